// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/storage.h"

#include <algorithm>
#include <map>

#include "local/api_server/data_directory.h"

namespace paddle::local {
namespace {

using api::ObjectKey;
using kube::EventType;

constexpr std::int64_t kSchema = 1;                // PRAGMA user_version
constexpr std::int64_t kApplication = 0x50444c53;  // "PDLS": marks the file as ours
constexpr std::uint64_t kTrimEvery = 64;           // writes

// A revision is never 0: to a client that means "any".
constexpr const char* kCreate = R"sql(
BEGIN;
CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES('revision', 1), ('compacted', 0);
CREATE TABLE objects(collection TEXT NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,
                     uid TEXT NOT NULL, managers TEXT NOT NULL, body TEXT NOT NULL,
                     PRIMARY KEY(collection, ns, name));
CREATE INDEX objects_by_uid ON objects(uid);
CREATE INDEX objects_by_namespace ON objects(ns);
CREATE TABLE owners(owner TEXT NOT NULL, collection TEXT NOT NULL, ns TEXT NOT NULL,
                    name TEXT NOT NULL, PRIMARY KEY(owner, collection, ns, name)) WITHOUT ROWID;
CREATE INDEX owners_by_dependent ON owners(collection, ns, name);
CREATE TABLE changes(revision INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, collection TEXT NOT NULL,
                     ns TEXT NOT NULL, name TEXT NOT NULL, type INTEGER NOT NULL,
                     body TEXT NOT NULL, before TEXT);
CREATE INDEX changes_by_collection ON changes(collection, revision);
PRAGMA application_id = 1346653267;
PRAGMA user_version = 1;
COMMIT;
)sql";
static_assert(kApplication == 1346653267 && kSchema == 1);

constexpr const char* kRevision = "SELECT value FROM counters WHERE name = 'revision'";
constexpr const char* kCompacted = "SELECT value FROM counters WHERE name = 'compacted'";

Result<> prepare(Database& database, const std::string& path, bool durable) {
  CHECK_DONE(database.script(durable ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                                     : "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;"));
  TRY(const std::int64_t version, database.number("PRAGMA user_version"));
  TRY(const std::int64_t owner, database.number("PRAGMA application_id"));
  TRY(const std::int64_t tables, database.number("SELECT count(*) FROM sqlite_master"));
  if (version == 0 && owner == 0 && tables == 0) return database.script(kCreate);
  if (owner != kApplication) {
    return Error{Code::kInvalid, path + " is a database of another program"};
  }
  if (version > kSchema) {
    return Error{Code::kInvalid, path + " was written by a newer version (schema " +
                                     std::to_string(version) + ", this one supports up to " +
                                     std::to_string(kSchema) + ")"};
  }
  std::string check_result;
  CHECK_DONE(database.each("PRAGMA quick_check(1)", {}, [&](const Row& row) {
    check_result = row.text(0);
    return false;
  }));
  if (check_result == "ok") return Done{};
  return Error{Code::kInternal, "the database " + path + " is damaged (" + check_result +
                                    "): restore it from a backup, or remove it to start again"};
}

Error expired(std::uint64_t asked, std::int64_t compacted) {
  return {Code::kExpired, "too old resource version: " + std::to_string(asked) + " (" +
                              std::to_string(compacted) + ")"};
}

ObjectKey key_at(const Row& row, int column) {
  return {std::string(row.text(column)), std::string(row.text(column + 1))};
}

// A consistent view for several statements of the reading connection.
class Snapshot {
 public:
  explicit Snapshot(Database& database) : database_(database), begun_(database.run("BEGIN")) {}
  ~Snapshot() { (void)static_cast<bool>(database_.run("COMMIT")); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  Result<> begun() const { return begun_; }

 private:
  Database& database_;
  Result<> begun_;
};

// Rolls back a transaction that did not reach its COMMIT, also after an exception.
class RollbackGuard {
 public:
  RollbackGuard(Database& database, bool& broken) : database_(database), broken_(broken) {}
  ~RollbackGuard() {
    if (database_.in_transaction() && !database_.run("ROLLBACK")) broken_ = true;
  }
  RollbackGuard(const RollbackGuard&) = delete;
  RollbackGuard& operator=(const RollbackGuard&) = delete;

 private:
  Database& database_;
  bool& broken_;
};

}  // namespace

Storage::Storage(StorageOptions options, UniqueFd lock, Database writer, Database reader)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      writer_(std::move(writer)),
      reader_(std::move(reader)) {}

Result<std::unique_ptr<Storage>> Storage::open(const StorageOptions& options) {
  CHECK_DONE(make_private_directory(options.directory));
  TRY(UniqueFd lock, lock_directory(options.directory));
  const std::string path = options.directory + "/state.db";
  CHECK_DONE(make_private_file(path));
  TRY(Database writer, Database::open(path));
  CHECK_DONE(prepare(writer, path, options.durable));
  TRY(Database reader, Database::open(path));
  return std::unique_ptr<Storage>(
      new Storage(options, std::move(lock), std::move(writer), std::move(reader)));
}

Result<std::uint64_t> Storage::revision() {
  Lock lock(reading_);
  TRY(const std::int64_t value, reader_.number(kRevision));
  return static_cast<std::uint64_t>(value);
}

Result<std::optional<std::string>> Storage::get(const std::string& collection,
                                                const ObjectKey& key) {
  Lock lock(reading_);
  std::optional<std::string> body;
  CHECK_DONE(reader_.each("SELECT body FROM objects WHERE collection = ? AND ns = ? AND name = ?",
                          {collection, key.ns, key.name}, [&](const Row& row) {
                            body = row.text(0);
                            return false;
                          }));
  return body;
}

Result<std::uint64_t> Storage::list(const Range& range, const BodySink& sink) {
  Lock lock(reading_);
  const Snapshot snapshot(reader_);
  CHECK_DONE(snapshot.begun());
  if (range.revision == 0) return list_now(range, sink);
  CHECK_DONE(check_history(range.revision));
  CHECK_DONE(list_at_revision(range, sink));
  return range.revision;
}

Result<std::uint64_t> Storage::list_now(const Range& range, const BodySink& sink) {
  TRY(const std::int64_t revision, reader_.number(kRevision));
  CHECK_DONE(reader_.each(
      "SELECT ns, name, body FROM objects WHERE collection = ?1 AND (ns, name) > (?2, ?3) "
      "AND (?4 = '' OR ns = ?4) ORDER BY ns, name",
      {range.collection, range.after.ns, range.after.name, range.ns},
      [&](const Row& row) { return sink(key_at(row, 0), row.text(2)); }));
  return static_cast<std::uint64_t>(revision);
}

// The current state with every later change undone: the first change of an object after the
// revision has its previous state.
Result<> Storage::list_at_revision(const Range& range, const BodySink& sink) {
  std::map<ObjectKey, std::optional<std::string>> undone;
  CHECK_DONE(reader_.each(
      "SELECT ns, name, before FROM changes WHERE collection = ?1 AND revision > ?2 "
      "AND (ns, name) > (?3, ?4) AND (?5 = '' OR ns = ?5) ORDER BY revision",
      {range.collection, static_cast<std::int64_t>(range.revision), range.after.ns,
       range.after.name, range.ns},
      [&](const Row& row) {
        undone.try_emplace(key_at(row, 0),
                           row.is_null(2) ? std::nullopt : std::optional(std::string(row.text(2))));
        return true;
      }));
  bool more = true;
  auto next = undone.begin();
  const auto give_undone = [&](const ObjectKey* before) {
    for (; more && next != undone.end() && (!before || next->first < *before); ++next) {
      if (next->second) more = sink(next->first, *next->second);
    }
  };
  CHECK_DONE(reader_.each(
      "SELECT ns, name, body FROM objects WHERE collection = ?1 AND (ns, name) > (?2, ?3) "
      "AND (?4 = '' OR ns = ?4) ORDER BY ns, name",
      {range.collection, range.after.ns, range.after.name, range.ns}, [&](const Row& row) {
        const ObjectKey key = key_at(row, 0);
        give_undone(&key);
        if (more && !undone.contains(key)) more = sink(key, row.text(2));
        return more;
      }));
  give_undone(nullptr);
  return Done{};
}

Result<> Storage::check_history(std::uint64_t revision) {
  TRY(const std::int64_t compacted, reader_.number(kCompacted));
  if (static_cast<std::int64_t>(revision) < compacted) return expired(revision, compacted);
  return Done{};
}

Result<Changes> Storage::changes(const std::string& collection, const std::string& ns,
                                 std::uint64_t revision, int limit) {
  Lock lock(reading_);
  const Snapshot snapshot(reader_);
  CHECK_DONE(snapshot.begun());
  CHECK_DONE(check_history(revision));
  TRY(const std::int64_t latest, reader_.number(kRevision));
  Changes found{.up_to = std::max(revision, static_cast<std::uint64_t>(latest))};
  CHECK_DONE(reader_.each(
      "SELECT revision, type, body, before FROM changes WHERE collection = ?1 AND revision > ?2 "
      "AND (?3 = '' OR ns = ?3) ORDER BY revision LIMIT ?4",
      {collection, static_cast<std::int64_t>(revision), ns, std::int64_t{limit}},
      [&](const Row& row) {
        found.list.push_back({.revision = static_cast<std::uint64_t>(row.number(0)),
                              .type = static_cast<EventType>(row.number(1)),
                              .body = std::string(row.text(2)),
                              .before = std::string(row.text(3))});
        return true;
      }));
  if (static_cast<int>(found.list.size()) == limit) found.up_to = found.list.back().revision;
  return found;
}

Result<> Storage::write(const Body& change, bool dry_run) {
  std::set<std::string> changed;
  {
    Lock lock(writing_);
    if (broken_)
      return Error{Code::kUnavailable, "an earlier write could not be rolled back: restart"};
    TRY(changed, attempt(change, dry_run));
  }
  if (changed.empty()) return Done{};
  Listener listener;
  {
    Lock lock(listening_);
    listener = listener_;
  }
  if (listener) listener(changed);
  return Done{};
}

// Returns the collections that were changed and committed.
Result<std::set<std::string>> Storage::attempt(const Body& change, bool dry_run) {
  CHECK_DONE(writer_.run("BEGIN IMMEDIATE"));
  const RollbackGuard undo(writer_, broken_);
  TRY(const std::int64_t revision, writer_.number(kRevision));
  Transaction transaction(writer_, static_cast<std::uint64_t>(revision));
  CHECK_DONE(change(transaction));
  CHECK_DONE(transaction.outcome());
  if (dry_run || transaction.changed().empty()) return std::set<std::string>{};
  CHECK_DONE(writer_.run("UPDATE counters SET value = ? WHERE name = 'revision'",
                         {static_cast<std::int64_t>(transaction.revision())}));
  CHECK_DONE(writer_.run("COMMIT"));
  if (++writes_ % kTrimEvery == 0) {
    // The write has succeeded regardless of this; trimming is tried again later.
    (void)static_cast<bool>(trim());
  }
  return transaction.changed();
}

Result<> Storage::trim() {
  std::int64_t last = 0;
  CHECK_DONE(writer_.each(
      "SELECT max(revision) FROM (SELECT revision, sum(bytes) OVER newer AS total, "
      "count(*) OVER newer AS number FROM changes WINDOW newer AS (ORDER BY revision DESC)) "
      "WHERE total > ?1 OR number > ?2",
      {options_.keep_bytes, options_.keep_changes}, [&](const Row& row) {
        last = row.number(0);
        return false;
      }));
  return last == 0 ? Result<>(Done{}) : forget(last);
}

// One transaction: a watch would miss a deleted change that does not count as compacted.
Result<> Storage::forget(std::int64_t last) {
  CHECK_DONE(writer_.run("BEGIN IMMEDIATE"));
  const RollbackGuard undo(writer_, broken_);
  CHECK_DONE(writer_.run("DELETE FROM changes WHERE revision <= ?", {last}));
  CHECK_DONE(
      writer_.run("UPDATE counters SET value = max(value, ?) WHERE name = 'compacted'", {last}));
  return writer_.run("COMMIT");
}

Result<> Storage::compact(std::uint64_t revision) {
  Lock lock(writing_);
  TRY(const std::int64_t latest, writer_.number(kRevision));
  return forget(revision == 0 ? latest : std::min(latest, static_cast<std::int64_t>(revision)));
}

void Storage::listen(Listener listener) {
  Lock lock(listening_);
  listener_ = std::move(listener);
}

}  // namespace paddle::local
