// SPDX-License-Identifier: Apache-2.0
//
// Reads a mounted Secret: a directory with a file for each key. Callers read it for each use, so
// that it may be rotated. Hidden files are kubelet's and ignored, the sealed file (credentials.h)
// is unsealed, and white space around values is removed.

#pragma once

#include <string>

#include "base/result.h"
#include "engine/juicefs/node/command/secret_values.h"

namespace paddle::engine::juicefs {

// An empty path, or a directory that does not exist, is a Secret without keys. kUnavailable: it
// exists and cannot be read.
Result<SecretValues> read_secret(const std::string& directory);

}  // namespace paddle::engine::juicefs
