// SPDX-License-Identifier: Apache-2.0
//
// Server-side apply over plain JSON: which manager set which leaf, and the effect of an applied
// configuration.
//
// A subset of what the API server does: a leaf is a scalar, an array or an empty object, identified
// by its JSON pointer; an array is always replaced as a whole (the server merges lists that have
// keys in its schema, such as containers). Like the server: a leaf that another manager set to
// another value is a conflict unless forced, a leaf that this manager does not mention any more is
// removed when no other manager owns it, and plain writes own what they changed. Pure functions
// over values.

#pragma once

#include <map>
#include <set>
#include <string>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

using FieldOwners = std::map<std::string, std::set<std::string>>;  // manager -> leaf pointers

// `live` with `config` applied; updates `owners`. kConflict names the fields and their managers.
Result<api::Json> apply_config(const api::Json& live, const api::Json& config,
                               const std::string& manager, bool force, FieldOwners& owners);

// Records a create, update or patch that changed `before` to `after`: it owns what it changed.
void note_plain_write(const api::Json& before, const api::Json& after, FieldOwners& owners);

}  // namespace paddle::kube
