// SPDX-License-Identifier: Apache-2.0
//
// Which sources JuiceFS 1.3 and later can bring samples from. Pure.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

// "bos://bucket.endpoint/prefix". kInvalid: one sentence with the schemes that are known, or with
// why this one is not taken; it never repeats credentials that somebody put into the URI.
Result<> check_source(const std::string& uri);

}  // namespace paddle::engine::juicefs
