// SPDX-License-Identifier: Apache-2.0
//
// A mounted Secret: a directory with a file for each key. Read anew for each use, so that it may be
// rotated. Hidden files are kubelet's, and one that is sealed (credentials.h) is opened; values
// lose the white space at their ends.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

using SecretFiles = std::map<std::string, std::string>;

// An empty path, or a directory that is not there, is a Secret without keys. kUnavailable: it is
// there and can not be read.
Result<SecretFiles> read_secret(const std::string& directory);

// The value of a key, or empty.
std::string value_of(const SecretFiles& files, const std::string& key);

// Values that must never be shown: all but names of things (name, storage, bucket, endpoint, ...).
std::vector<std::string> secrets_of(const SecretFiles& files);

}  // namespace paddle::engine::juicefs
