// SPDX-License-Identifier: Apache-2.0
#include "api/core/meta.h"

#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

// One visitor per metadata field: absent and null mean the default, a wrong type is an error.
class Reader {
 public:
  explicit Reader(const Json& from) : from_(from) {}

  void text(const char* key, std::string& to) {
    with(key, [&](const Json& v) { return v.is_string() && (to = v.get<std::string>(), true); });
  }
  void number(const char* key, std::int64_t& to) {
    with(key, [&](const Json& v) {
      return v.is_number_integer() && (to = v.get<std::int64_t>(), true);
    });
  }
  void flag(const char* key, bool& to) {
    with(key, [&](const Json& v) { return v.is_boolean() && (to = v.get<bool>(), true); });
  }
  void time(const char* key, std::optional<WallTime>& to) {
    with(key, [&](const Json& v) {
      if (!v.is_string()) return false;
      auto parsed = parse_rfc3339(v.get_ref<const std::string&>());
      if (parsed) to = *parsed;
      return static_cast<bool>(parsed);
    });
  }
  void texts(const char* key, std::map<std::string, std::string>& to) {
    with(key, [&](const Json& v) {
      if (!v.is_object()) return false;
      for (const auto& [name, value] : v.items()) {
        if (!value.is_string()) return false;
        to[name] = value.get<std::string>();
      }
      return true;
    });
  }
  template <typename Each>
  void list(const char* key, Each each) {
    with(key, [&](const Json& v) {
      if (!v.is_array()) return false;
      for (const Json& item : v) {
        if (!each(item)) return false;
      }
      return true;
    });
  }

  Result<> end(const char* where) const {
    if (bad_.empty()) return Done{};
    return Error{Code::kInvalid, std::string(where) + "." + bad_ + " has the wrong type"};
  }
  bool good() const { return bad_.empty(); }

 private:
  template <typename Take>
  void with(const char* key, Take take) {
    if (!from_.is_object()) return;
    const auto found = from_.find(key);
    if (found == from_.end() || found->is_null()) return;
    if (!take(*found) && bad_.empty()) bad_ = key;
  }

  const Json& from_;
  std::string bad_{};
};

bool read_owner(const Json& from, std::vector<OwnerReference>& to) {
  if (!from.is_object()) return false;
  OwnerReference owner;
  Reader read(from);
  read.text("apiVersion", owner.api_version);
  read.text("kind", owner.kind);
  read.text("name", owner.name);
  read.text("uid", owner.uid);
  read.flag("controller", owner.controller);
  read.flag("blockOwnerDeletion", owner.block_owner_deletion);
  to.push_back(std::move(owner));
  return read.good();
}

}  // namespace

std::string to_string(const ObjectKey& key) {
  return key.ns.empty() ? key.name : key.ns + "/" + key.name;
}

const OwnerReference* Meta::controller() const {
  for (const auto& owner : owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

std::string annotation(const Meta& meta, const char* name) {
  const auto found = meta.annotations.find(name);
  return found == meta.annotations.end() ? "" : found->second;
}

Result<Meta> decode_meta(const Json& object) {
  if (!object.is_object() || !object.contains("metadata") || !object["metadata"].is_object()) {
    return Error{Code::kInvalid, "metadata is missing"};
  }
  Meta meta;
  Reader read(object["metadata"]);
  read.text("namespace", meta.key.ns);
  read.text("name", meta.key.name);
  read.text("uid", meta.uid);
  read.text("resourceVersion", meta.resource_version);
  read.number("generation", meta.generation);
  read.texts("labels", meta.labels);
  read.texts("annotations", meta.annotations);
  read.list("finalizers", [&](const Json& item) {
    return item.is_string() && (meta.finalizers.push_back(item.get<std::string>()), true);
  });
  read.list("ownerReferences", [&](const Json& item) { return read_owner(item, meta.owners); });
  read.time("creationTimestamp", meta.created);
  read.time("deletionTimestamp", meta.deleted);
  CHECK_DONE(read.end("metadata"));
  return meta;
}

Json encode_meta(const Meta& meta) {
  Json out = {{"name", meta.key.name}};
  if (!meta.key.ns.empty()) out["namespace"] = meta.key.ns;
  if (!meta.labels.empty()) out["labels"] = meta.labels;
  if (!meta.annotations.empty()) out["annotations"] = meta.annotations;
  if (!meta.finalizers.empty()) out["finalizers"] = meta.finalizers;
  for (const auto& owner : meta.owners) {
    out["ownerReferences"].push_back({{"apiVersion", owner.api_version},
                                      {"kind", owner.kind},
                                      {"name", owner.name},
                                      {"uid", owner.uid},
                                      {"controller", owner.controller},
                                      {"blockOwnerDeletion", owner.block_owner_deletion}});
  }
  return out;
}

}  // namespace paddle::api
