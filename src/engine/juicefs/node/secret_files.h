// SPDX-License-Identifier: Apache-2.0
//
// A mounted Secret: a directory with a file for each key. Read anew for each use, so that it may be
// rotated. Hidden files are kubelet's, and one that is sealed (credentials.h) is opened; values
// lose the white space at their ends.

#pragma once

#include <string>

#include "base/result.h"
#include "engine/juicefs/node/command/secret_values.h"

namespace paddle::engine::juicefs {

// An empty path, or a directory that is not there, is a Secret without keys. kUnavailable: it is
// there and can not be read.
Result<SecretValues> read_secret(const std::string& directory);

}  // namespace paddle::engine::juicefs
