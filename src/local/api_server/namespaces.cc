// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/namespaces.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "kube/rules/object_rules.h"

namespace paddle::local {
namespace {

using api::Json;
using kube::resources::kNamespaces;

bool is_leaving(const Json& object) {
  return !kube::meta_text(object, "deletionTimestamp").empty();
}

void finish(Transaction& transaction, const std::string& name) {
  const auto record = transaction.read(kNamespaces, {.name = name});
  if (!record || !is_leaving(*record->object)) return;
  if (!kube::finalizers_of(*record->object).empty()) return;
  if (transaction.in_namespace(name).empty()) transaction.erase(kNamespaces, {.name = name});
}

}  // namespace

Result<> check_namespace(const Transaction& transaction, const std::string& name) {
  const auto record = transaction.read(kNamespaces, {.name = name});
  if (!record) return Error{Code::kNotFound, "namespaces \"" + name + "\" not found"};
  if (!is_leaving(*record->object)) return Done{};
  return Error{Code::kForbidden, "unable to create new content in namespace " + name +
                                     " because it is being terminated"};
}

Result<> delete_namespace(Transaction& transaction, const std::string& name,
                          const kube::DeleteOptions& options, WallTime now) {
  if (std::ranges::find(kDefaultNamespaces, name) != kDefaultNamespaces.end()) {
    return Error{Code::kForbidden,
                 "namespaces \"" + name + "\" is forbidden: this namespace may not be deleted"};
  }
  const auto record = transaction.read(kNamespaces, {.name = name});
  if (!record) return Error{Code::kNotFound, "namespaces \"" + name + "\" not found"};
  Json object = *record->object;
  const auto differs = [&](const char* field, const std::string& wanted) {
    return !wanted.empty() && wanted != kube::meta_text(object, field);
  };
  if (differs("uid", options.uid) || differs("resourceVersion", options.resource_version)) {
    return Error{Code::kConflict, "precondition failed: namespaces \"" + name +
                                      "\" has another uid or resourceVersion"};
  }
  if (!is_leaving(object)) {
    object["metadata"]["deletionTimestamp"] = rfc3339(now);
    object["metadata"]["deletionGracePeriodSeconds"] = 0;
    if (!object["status"].is_object()) object["status"] = Json::object();
    object["status"]["phase"] = api::namespace_phase::kTerminating;
    transaction.put(kNamespaces, std::move(object), record->owners);
  }
  kube::GarbageCollector garbage(transaction, true);
  for (const auto& found : transaction.in_namespace(name)) {
    // An earlier removal may have deleted this object already.
    (void)static_cast<bool>(garbage.remove(found.resource, found.key, {}, now));
  }
  finish(transaction, name);
  return Done{};
}

Result<> finish_namespaces(Transaction& transaction) {
  const auto names = transaction.take_shrunk_namespaces();
  for (const auto& name : names) finish(transaction, name);
  return transaction.outcome();
}

}  // namespace paddle::local
