// SPDX-License-Identifier: Apache-2.0
//
// The pods of a set with JuiceFS: the template of its runtimes, and the pod that formats. Pure.
//
// A runtime runs as root, but without capabilities, privileges and directories of the node: the
// Pod Security profile `baseline` allows it. Root, because JuiceFS's client compares the caller of
// a removal with the owner of the files, and only root may remove those of others; its file .config
// is root's as well. The pod mounts the set's claim like a trainer, so that one client of the node
// serves both.

#pragma once

#include "api/json/json.h"
#include "api/sample_set.h"
#include "engine/juicefs/tiers.h"
#include "engine/manifests.h"

namespace paddle::engine::juicefs {

inline constexpr const char* kEngine = "juicefs";

api::Json runtime_pod_spec(const api::SampleSet& set, const Tiers& tiers,
                           const RuntimeOptions& options);
// `again`: the volume exists and gets new credentials.
api::Json preparation_pod_spec(const api::SampleSet& set, const RuntimeOptions& options,
                               bool again);

}  // namespace paddle::engine::juicefs
