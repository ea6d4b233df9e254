// SPDX-License-Identifier: Apache-2.0
//
// The commands of this folder's test programs, besides running tests.

#pragma once

namespace paddle::local {

// A runtime: serves /run/paddle-cache/attach.sock until it is killed. The files "0" to "399" hold
// their number; a read takes a few milliseconds, so that a kill finds some at work.
inline constexpr const char* kServeSamplesCommand = "serve-samples";

}  // namespace paddle::local
