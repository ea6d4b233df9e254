// SPDX-License-Identifier: Apache-2.0
//
// The mount options of a set in the CSI driver's form: "a=1,b,c=2", sorted, so that the same spec
// gives the same text. A zero is passed on; `sub-dir` becomes JuiceFS's `subdir`. The driver passes
// them to a shell, so a text must match the pattern of its option. Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "base/result.h"
#include "engine/juicefs/tiers.h"

namespace paddle::engine::juicefs {

// kInvalid names the option that cannot be passed on.
Result<std::string> mount_options(const api::SampleSet& set, const Tiers& tiers);

}  // namespace paddle::engine::juicefs
