// SPDX-License-Identifier: Apache-2.0
//
// Applies the three kinds of patches: RFC 7386 merge, RFC 6902 JSON patch, and Kubernetes'
// strategic merge. (Server-side apply is kube/rules/server_side_apply.h.) Pure.
//
// Strategic merge knows lists by their field name: containers, volumes, env, ports and the other
// common ones are merged by their key, everything else is replaced, which is what the real server
// does for them. Directives: $patch (replace, delete, merge), $setElementOrder/..., $retainKeys,
// $deleteFromPrimitiveList/... .

#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "local/api_server/writer.h"

namespace paddle::local {

// kInvalid for a patch that does not apply or would grow without bounds. kApply is not handled.
Result<api::Json> patched(api::Json object, PatchStyle style, const api::Json& patch);

Result<api::Json> strategic_merge(api::Json object, const api::Json& patch);

}  // namespace paddle::local
