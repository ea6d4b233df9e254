// SPDX-License-Identifier: Apache-2.0
//
// The pods of a set with JuiceFS: the runtimes' template, and the one that formats. Pure.
//
// A runtime is root, because it removes files of any owner, but has no capabilities and is not
// privileged. It mounts the set's claim like any trainer, so that the node's one client serves
// both. Cache directories are mounted read-only: it only looks how full their disks are.

#pragma once

#include "api/json/json.h"
#include "api/sample_set.h"
#include "engine/juicefs/tiers.h"
#include "engine/manifests.h"

namespace paddle::engine::juicefs {

inline constexpr const char* kEngine = "juicefs";

api::Json runtime_pod_spec(const api::SampleSet& set, const Tiers& tiers,
                           const RuntimeOptions& options);
// `again`: with other credentials than before, which the volume is to know.
api::Json preparation_pod_spec(const api::SampleSet& set, const RuntimeOptions& options,
                               bool again);

}  // namespace paddle::engine::juicefs
