// SPDX-License-Identifier: Apache-2.0
//
// The two bodies that kubectl sends as protobuf for commands that otherwise work here: the
// DeleteOptions and the Eviction of `kubectl drain`. Any other protobuf body is refused. Pure; the
// input is untrusted.

#pragma once

#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

// Kubernetes' own envelope: "k8s" and a zero byte.
bool is_protobuf(std::string_view body);

// The same object as JSON. kInvalid: damaged, or another kind.
Result<api::Json> decode_protobuf_body(std::string_view body);

}  // namespace paddle::local
