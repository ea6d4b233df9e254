// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/transaction.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "kube/rules/object_rules.h"
#include "local/api_server/kinds.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using kube::EventType;
using kube::Located;

std::string write_owners(const kube::FieldOwners& owners) { return api::dump_json(Json(owners)); }

kube::FieldOwners read_owners(std::string_view text) {
  auto parsed = api::parse_json(text);
  kube::FieldOwners owners;
  if (!parsed || !parsed->is_object()) return owners;
  for (const auto& [manager, paths] : parsed->items()) {
    for (const auto& path : paths) owners[manager].insert(path.get<std::string>());
  }
  return owners;
}

void add_located(std::vector<Located>& to, const Row& row) {
  const Kind* kind = find_collection(row.text(0));
  if (!kind) return;  // written by a version that served more kinds
  to.push_back({kind->resource, {std::string(row.text(1)), std::string(row.text(2))}});
}

}  // namespace

std::string collection_of(const kube::Resource& resource) {
  return resource.group + "/" + resource.plural;
}

void Transaction::note(Result<> done) const {
  if (!done && !failure_) failure_ = std::move(done).error();
}

Result<> Transaction::outcome() const {
  if (failure_) return *failure_;
  return Done{};
}

std::optional<kube::Record> Transaction::read(const kube::Resource& resource,
                                              const ObjectKey& key) const {
  std::optional<kube::Record> found;
  const std::string collection = collection_of(resource);
  note(database_.each(
      "SELECT body, managers FROM objects WHERE collection = ? AND ns = ? AND name = ?",
      {collection, key.ns, key.name}, [&](const Row& row) {
        auto parsed = api::parse_json(row.text(0));
        if (!parsed) {
          note(Error{Code::kInternal, "stored object " + collection + " " + to_string(key) +
                                          " is damaged: " + parsed.error().message});
          return false;
        }
        found.emplace(kube::Record{std::make_shared<const Json>(*std::move(parsed)),
                                   read_owners(row.text(1))});
        return false;
      }));
  return found;
}

void Transaction::record(const std::string& collection, const ObjectKey& key, EventType type,
                         const std::string& body, const std::string* before) {
  const SqlValue old = before ? SqlValue(std::string_view(*before)) : SqlValue();
  const auto bytes = static_cast<std::int64_t>(body.size() + (before ? before->size() : 0));
  note(database_.run(
      "INSERT INTO changes(revision, bytes, collection, ns, name, type, body, before) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      {static_cast<std::int64_t>(revision_), bytes, collection, key.ns, key.name,
       static_cast<std::int64_t>(type), body, old}));
  changed_.insert(collection);
  if (collection == "/namespaces") {
    shrunk_namespaces_.insert(key.name);
  } else if (type == EventType::kDeleted && !key.ns.empty()) {
    shrunk_namespaces_.insert(key.ns);
  }
}

kube::StoredObject Transaction::put(const kube::Resource& resource, Json object,
                                    kube::FieldOwners owners) {
  const ObjectKey key = kube::key_of(object);
  const std::string collection = collection_of(resource);
  object["metadata"]["resourceVersion"] = std::to_string(++revision_);
  std::optional<std::string> before;
  note(database_.each("SELECT body FROM objects WHERE collection = ? AND ns = ? AND name = ?",
                      {collection, key.ns, key.name}, [&](const Row& row) {
                        before = row.text(0);
                        return false;
                      }));
  const std::string body = api::dump_json(object);
  const std::string uid = kube::meta_text(object, "uid");
  const std::string managers = write_owners(owners);
  note(database_.run(
      "INSERT INTO objects(collection, ns, name, uid, managers, body) VALUES(?, ?, ?, ?, ?, ?) "
      "ON CONFLICT(collection, ns, name) DO UPDATE SET uid = excluded.uid, "
      "managers = excluded.managers, body = excluded.body",
      {collection, key.ns, key.name, uid, managers, body}));
  note(database_.run("DELETE FROM owners WHERE collection = ? AND ns = ? AND name = ?",
                     {collection, key.ns, key.name}));
  for (const auto& owner : kube::owner_uids(object)) {
    note(database_.run(
        "INSERT OR IGNORE INTO owners(owner, collection, ns, name) VALUES(?, ?, ?, ?)",
        {owner, collection, key.ns, key.name}));
  }
  record(collection, key, before ? EventType::kModified : EventType::kAdded, body,
         before ? &*before : nullptr);
  return std::make_shared<const Json>(std::move(object));
}

void Transaction::erase(const kube::Resource& resource, const ObjectKey& key) {
  const auto found = read(resource, key);
  if (!found) return;
  const std::string collection = collection_of(resource);
  Json last = *found->object;
  last["metadata"]["resourceVersion"] = std::to_string(++revision_);
  const std::string before = api::dump_json(*found->object);
  note(database_.run("DELETE FROM objects WHERE collection = ? AND ns = ? AND name = ?",
                     {collection, key.ns, key.name}));
  note(database_.run("DELETE FROM owners WHERE collection = ? AND ns = ? AND name = ?",
                     {collection, key.ns, key.name}));
  record(collection, key, EventType::kDeleted, api::dump_json(last), &before);
}

std::vector<Located> Transaction::dependents_of(const std::string& uid) const {
  std::vector<Located> found;
  note(database_.each(
      "SELECT collection, ns, name FROM owners WHERE owner = ? ORDER BY collection, ns, name",
      {uid}, [&](const Row& row) { return add_located(found, row), true; }));
  return found;
}

std::optional<Located> Transaction::find_uid(const std::string& uid) const {
  std::vector<Located> found;
  note(database_.each("SELECT collection, ns, name FROM objects WHERE uid = ?", {uid},
                      [&](const Row& row) { return add_located(found, row), false; }));
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<Located> Transaction::dangling() const {
  std::vector<Located> found;
  note(
      database_.each("SELECT DISTINCT collection, ns, name FROM owners "
                     "WHERE owner NOT IN (SELECT uid FROM objects)",
                     {}, [&](const Row& row) { return add_located(found, row), true; }));
  return found;
}

std::set<std::string> Transaction::take_shrunk_namespaces() {
  return std::exchange(shrunk_namespaces_, {});
}

std::vector<Located> Transaction::in_namespace(const std::string& ns) const {
  std::vector<Located> found;
  note(database_.each("SELECT collection, ns, name FROM objects WHERE ns = ?", {ns},
                      [&](const Row& row) { return add_located(found, row), true; }));
  return found;
}

std::vector<Located> Transaction::in_collection(const std::string& collection,
                                                const std::string& ns) const {
  std::vector<Located> found;
  note(database_.each(
      "SELECT collection, ns, name FROM objects WHERE collection = ?1 AND (?2 = '' OR ns = ?2) "
      "ORDER BY ns, name",
      {collection, ns}, [&](const Row& row) { return add_located(found, row), true; }));
  return found;
}

}  // namespace paddle::local
