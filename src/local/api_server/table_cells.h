// SPDX-License-Identifier: Apache-2.0
//
// The cells of table.h: functions from an object to the value of one column. They accept any JSON,
// also with fields of unexpected types, and never fail: a missing value is "".

#pragma once

#include <string>
#include <vector>

#include "local/api_server/table.h"

namespace paddle::local {

using Path = std::vector<std::string>;

// Null when there is nothing at the path. A step "?key=value" is the first element of a list that
// has this text at the key.
const api::Json* find_at(const api::Json& object, const Path& path);

Cell text_at(Path path, std::string otherwise = {});
Cell value_at(Path path);  // strings, numbers and flags as they are
Cell age_at(Path path);
Cell pairs_at(Path path);  // "a=1,b=2"

api::Json pod_ready(const api::Json& pod, WallTime now);
api::Json pod_status(const api::Json& pod, WallTime now);
api::Json pod_restarts(const api::Json& pod, WallTime now);
api::Json service_ports(const api::Json& service, WallTime now);
api::Json event_last_seen(const api::Json& event, WallTime now);
api::Json event_object(const api::Json& event, WallTime now);
api::Json access_modes(const api::Json& volume, WallTime now);
api::Json volume_claim(const api::Json& volume, WallTime now);
api::Json data_count(const api::Json& object, WallTime now);
api::Json node_status(const api::Json& node, WallTime now);
api::Json replicas_ready(const api::Json& set, WallTime now);

}  // namespace paddle::local
