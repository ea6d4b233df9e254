// SPDX-License-Identifier: Apache-2.0
//
// Opens files of a mounted volume component by component without following links, so that nothing
// outside of the volume is reached.

#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::engine::juicefs {

// `path` is relative to the mount; empty: its root. kNotFound: there is no such path, or a link is
// in it.
Result<UniqueFd> open_beneath(const std::string& mount, const std::string& path, int flags);

}  // namespace paddle::engine::juicefs
