// SPDX-License-Identifier: Apache-2.0
#include "kube/rules/server_side_apply.h"

#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using api::Json;
using Pointer = Json::json_pointer;

const std::string kPlainWriter = "(plain writes)";  // no field manager may contain a space

// Names and system fields have no owner.
const std::set<std::string>& unowned() {
  static const std::set<std::string> kPaths{"/apiVersion",
                                            "/kind",
                                            "/metadata/name",
                                            "/metadata/namespace",
                                            "/metadata/generateName",
                                            "/metadata/uid",
                                            "/metadata/resourceVersion",
                                            "/metadata/generation",
                                            "/metadata/creationTimestamp",
                                            "/metadata/deletionTimestamp",
                                            "/metadata/managedFields"};
  return kPaths;
}

void collect(const Json& value, const Pointer& at, std::map<std::string, const Json*>& leaves) {
  if (unowned().contains(at.to_string())) return;
  if (!value.is_object() || value.empty()) {
    leaves.emplace(at.to_string(), &value);
    return;
  }
  for (const auto& [name, child] : value.items()) collect(child, at / name, leaves);
}

std::map<std::string, const Json*> leaves_of(const Json& object) {
  std::map<std::string, const Json*> leaves;
  if (object.is_object() && !object.empty()) collect(object, Pointer{}, leaves);
  return leaves;
}

const Json* value_at(const Json& object, const Pointer& at) {
  return object.contains(at) ? &object.at(at) : nullptr;
}

bool beneath(const std::string& path, const std::string& above) {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

// One is the other, or a part of it: setting one changes the other.
bool overlap(const std::string& a, const std::string& b) {
  return a == b || beneath(a, b) || beneath(b, a);
}

void erase_leaf(Json& object, Pointer at) {
  while (!at.empty() && object.contains(at)) {
    const std::string last = at.back();
    at.pop_back();
    Json& parent = object.at(at);
    if (!parent.is_object()) return;
    parent.erase(last);
    if (!parent.empty() || at.empty()) return;  // parents that became empty go with their last leaf
  }
}

void set_leaf(Json& object, const Pointer& at, const Json& value) {
  Pointer rest = at;
  std::vector<std::string> names;
  for (; !rest.empty(); rest.pop_back()) names.insert(names.begin(), rest.back());
  Json* here = &object;
  for (const auto& name : names) {
    if (!here->is_object()) *here = Json::object();
    here = &(*here)[name];
  }
  *here = value;
}

}  // namespace

Result<Json> apply_config(const Json& live, const Json& config, const std::string& manager,
                          bool force, FieldOwners& owners) {
  const auto wanted = leaves_of(config);
  std::string conflicts;
  FieldOwners after = owners;
  for (const auto& [path, value] : wanted) {
    const Json* current = value_at(live, Pointer(path));
    if (current && *current == *value) continue;
    for (auto& [other, fields] : after) {
      if (other == manager) continue;
      for (auto field = fields.begin(); field != fields.end();) {
        if (!overlap(*field, path)) {
          ++field;
        } else if (force) {
          field = fields.erase(field);
        } else {
          conflicts += (conflicts.empty() ? "" : ", ") + *field + " is managed by " + other;
          ++field;
        }
      }
    }
  }
  if (!conflicts.empty()) return Error{Code::kConflict, "apply failed: " + conflicts};

  Json result = live;
  const auto is_owned_by_others = [&](const std::string& path) {
    for (const auto& [other, fields] : after) {
      if (other != manager && fields.contains(path)) return true;
    }
    return false;
  };
  for (const auto& path : after[manager]) {
    if (!wanted.contains(path) && !is_owned_by_others(path)) erase_leaf(result, Pointer(path));
  }
  after[manager].clear();
  for (const auto& [path, value] : wanted) {
    set_leaf(result, Pointer(path), *value);
    after[manager].insert(path);
  }
  owners = std::move(after);
  return result;
}

void note_plain_write(const Json& before, const Json& after, FieldOwners& owners) {
  const auto old_leaves = leaves_of(before);
  const auto new_leaves = leaves_of(after);
  for (auto& [manager, fields] : owners) {
    std::erase_if(fields, [&](const std::string& path) { return !new_leaves.contains(path); });
  }
  for (const auto& [path, value] : new_leaves) {
    const auto old = old_leaves.find(path);
    if (old != old_leaves.end() && *old->second == *value) continue;
    for (auto& [manager, fields] : owners) fields.erase(path);
    owners[kPlainWriter].insert(path);
  }
}

}  // namespace paddle::kube
