// SPDX-License-Identifier: Apache-2.0
//
// A thin wrapper of SQLite for storage.h: one connection, statements prepared once, values bound
// (never inserted into SQL text), failures as Result. One thread at a time per connection.
//
// A damaged file, a full disk and a file locked by another process each have their own message.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace paddle::local {

using SqlValue = std::variant<std::monostate, std::int64_t, std::string_view>;  // monostate is NULL

// One row of a result; texts are valid only during the call of the sink.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  bool is_null(int column) const;
  std::int64_t number(int column) const;
  std::string_view text(int column) const;

 private:
  sqlite3_stmt* statement_;
};

// False ends the query early.
using RowSink = std::function<bool(const Row&)>;

class Database {
 public:
  static Result<Database> open(const std::string& path);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  // Several statements without values: schemas and pragmas.
  Result<> script(const char* sql);
  Result<> run(const char* sql, std::initializer_list<SqlValue> values = {});
  // The sink must not use the same statement again.
  Result<> each(const char* sql, std::initializer_list<SqlValue> values, const RowSink& sink);
  // The first column of the only row; kInternal when there is none.
  Result<std::int64_t> number(const char* sql, std::initializer_list<SqlValue> values = {});
  bool in_transaction() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}
  Error failure(int code) const;
  Result<sqlite3_stmt*> prepared(const char* sql, std::initializer_list<SqlValue> values);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> statements_{};
};

}  // namespace paddle::local
