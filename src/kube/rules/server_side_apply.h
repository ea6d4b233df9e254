// SPDX-License-Identifier: Apache-2.0
//
// Server-side apply over plain JSON: who set which leaf, and what an applied configuration does.
//
// An honest subset of the API server's: a leaf is a scalar, an array or an empty object, named by
// its JSON pointer; arrays are always replaced as a whole (the server merges lists that its schema
// keys, such as containers). Like the server, a leaf that another manager set to another value is
// a conflict unless forced, a leaf this manager no longer mentions is removed when nobody else owns
// it, and plain writes own what they changed. Pure functions over values.

#pragma once

#include <map>
#include <set>
#include <string>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

using FieldOwners = std::map<std::string, std::set<std::string>>;  // manager -> leaf pointers

// `live` with `config` applied; `owners` follows. kConflict names the fields and their managers.
Result<api::Json> apply_config(const api::Json& live, const api::Json& config,
                               const std::string& manager, bool force, FieldOwners& owners);

// A create, update or patch turned `before` into `after`: what it changed is now its own.
void note_plain_write(const api::Json& before, const api::Json& after, FieldOwners& owners);

}  // namespace paddle::kube
