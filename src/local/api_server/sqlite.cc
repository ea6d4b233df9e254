// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/sqlite.h"

#include <sqlite3.h>

#include "base/match.h"

namespace paddle::local {
namespace {

constexpr int kBusyMilliseconds = 10'000;

// Resets a prepared statement for its next use.
class StatementReset {
 public:
  explicit StatementReset(sqlite3_stmt* statement) : statement_(statement) {}
  ~StatementReset() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  StatementReset(const StatementReset&) = delete;
  StatementReset& operator=(const StatementReset&) = delete;

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

bool Row::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Row::number(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Row::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!text) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() {
  statements_.clear();  // before the connection that they belong to
}

Result<Database> Database::open(const std::string& path) {
  sqlite3* handle = nullptr;
  // One thread at a time; the path is not a URI.
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database made(path, handle);
  if (code != SQLITE_OK) return made.failure(code);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return made;
}

Error Database::failure(int code) const {
  const std::string why =
      handle_ ? sqlite3_errmsg(handle_.get()) : std::string(sqlite3_errstr(code));
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Code::kInternal, "the database " + path_ + " is damaged (" + why +
                                   "): restore it from a backup, or remove it to start again"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::kUnavailable, "the database " + path_ + " is in use by another program"};
    case SQLITE_FULL:
      return {Code::kUnavailable, "the disk that holds " + path_ + " is full"};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {Code::kUnavailable, "the database " + path_ + " cannot be used: " + why};
    default:
      return {Code::kInternal, "the database " + path_ + ": " + why};
  }
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

Result<> Database::script(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return Done{};
}

Result<sqlite3_stmt*> Database::prepared(const char* sql, std::initializer_list<SqlValue> values) {
  auto found = statements_.find(std::string_view(sql));
  if (found == statements_.end()) {
    sqlite3_stmt* made = nullptr;
    const int code =
        sqlite3_prepare_v3(handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) return failure(code);
    found = statements_.emplace(sql, made).first;
  }
  sqlite3_stmt* statement = found->second.get();
  int index = 0;
  for (const SqlValue& value : values) {
    ++index;
    const int code = std::visit(
        Match{[&](std::monostate) { return sqlite3_bind_null(statement, index); },
              [&](std::int64_t number) { return sqlite3_bind_int64(statement, index, number); },
              [&](std::string_view text) {
                // An empty view may hold a null pointer, which SQLite would take for NULL.
                return sqlite3_bind_text64(statement, index, text.empty() ? "" : text.data(),
                                           text.size(), SQLITE_STATIC, SQLITE_UTF8);
              }},
        value);
    if (code != SQLITE_OK) {
      const StatementReset release(statement);
      return failure(code);
    }
  }
  return statement;
}

Result<> Database::run(const char* sql, std::initializer_list<SqlValue> values) {
  return each(sql, values, [](const Row&) { return true; });
}

Result<> Database::each(const char* sql, std::initializer_list<SqlValue> values,
                        const RowSink& sink) {
  TRY(sqlite3_stmt * statement, prepared(sql, values));
  const StatementReset release(statement);
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return Done{};
    if (code != SQLITE_ROW) return failure(code);
    if (!sink(Row(statement))) return Done{};
  }
}

Result<std::int64_t> Database::number(const char* sql, std::initializer_list<SqlValue> values) {
  std::int64_t value = 0;
  bool found = false;
  CHECK_DONE(each(sql, values, [&](const Row& row) {
    value = row.number(0);
    found = true;
    return false;
  }));
  if (!found) return Error{Code::kInternal, "the database " + path_ + " returned no row"};
  return value;
}

}  // namespace paddle::local
