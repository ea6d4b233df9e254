// SPDX-License-Identifier: Apache-2.0
//
// The mount options of a set as the CSI driver takes them: "a=1,b,c=2", sorted, so that the same
// spec gives the same text. A zero is passed on; `sub-dir` goes by its real name, `subdir`. The
// driver gives them to a shell: a text passes only when it looks like what the option takes. Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "base/result.h"
#include "engine/juicefs/tiers.h"

namespace paddle::engine::juicefs {

// kInvalid names the option that can not be passed on.
Result<std::string> mount_options(const api::SampleSet& set, const Tiers& tiers);

}  // namespace paddle::engine::juicefs
