// SPDX-License-Identifier: Apache-2.0
//
// Defaults that a real server sets in objects of core kinds, as far as our components rely on them:
// phases, restart policies, protocols, Secret.stringData. kInvalid for objects that could not work
// (a pod without containers). Pure and idempotent.

#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::local {

Result<api::Json> with_defaults(const kube::Resource& resource, api::Json object);

}  // namespace paddle::local
