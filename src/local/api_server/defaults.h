// SPDX-License-Identifier: Apache-2.0
//
// What the real server fills into objects of core kinds, as far as anybody here relies on it:
// phases, restart policies, protocols, Secret.stringData. kInvalid for objects that could not work
// (a pod without containers). Pure; giving an object twice changes nothing more.

#pragma once

#include "api/json/json.h"
#include "base/result.h"
#include "kube/resource.h"

namespace paddle::local {

Result<api::Json> with_defaults(const kube::Resource& resource, api::Json object);

}  // namespace paddle::local
