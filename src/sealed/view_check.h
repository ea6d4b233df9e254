// SPDX-License-Identifier: Apache-2.0
//
// Reads a mounted view back before anybody sees it. A mount whose devices do not arrive succeeds
// and returns other bytes without an error; this finds it.

#pragma once

#include "base/result.h"
#include "sealed/view_builder.h"

namespace paddle::sealed {

// `root` is the root of the mount, attached or not: number of entries, the root's list, and the
// samples of the view with size, time and checksums. kInvalid with one sentence when one differs.
Result<> check_view(int root, const BuiltView& view, const Checksum& checksum);

}  // namespace paddle::sealed
