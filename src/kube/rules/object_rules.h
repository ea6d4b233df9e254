// SPDX-License-Identifier: Apache-2.0
//
// What the API server does to an object before it stores it, as pure functions: system fields,
// preconditions, the separation of status from the rest, generations, finalizers. One table
// (rules_of) has the differences between kinds. The caller assigns versions and makes events.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::kube {

using api::Json;

struct KindRules {
  bool status = false;            // has a status subresource: the main one ignores status
  bool scale = false;             // has a scale subresource
  bool needs_version = false;     // an update without resourceVersion is refused
  bool create_on_update = false;  // an update of an absent object creates it
};
KindRules rules_of(const Resource& resource);

// What the server adds at a create.
struct ServerFields {
  std::string uid{};
  WallTime now{};
  std::string name_suffix{};  // for generateName
};

// Fills in system fields and checks the rest. kInvalid when the server would refuse it.
Result<Json> prepare_create(const Resource& resource, Json object,
                            const ServerFields& server_fields);

// `old` after `incoming` is written to it (sub: "" or "status"), still with the old
// resourceVersion. kConflict when a precondition in the metadata of `incoming` fails.
Result<Json> prepare_update(const Resource& resource, const Json& old, Json incoming,
                            const std::string& sub);

// Marked for deletion, and without finalizers.
bool is_removable(const Json& object);

// metadata.finalizers, an empty list when there are none.
std::vector<std::string> finalizers_of(const Json& object);

// The uids in metadata.ownerReferences.
std::vector<std::string> owner_uids(const Json& object);

// The Scale of an object whose kind has one, and the object after a Scale is written to it.
Json scale_of(const Json& object);
Result<Json> with_scale(Json object, const Json& scale);

// The key in the metadata of an object; empty strings for what is missing.
api::ObjectKey key_of(const Json& object);
std::string meta_text(const Json& object, const char* field);

}  // namespace paddle::kube
