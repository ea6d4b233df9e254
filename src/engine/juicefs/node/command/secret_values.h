// SPDX-License-Identifier: Apache-2.0
//
// The decoded keys and values of a Secret. Pure. secret_files.h reads them from a mounted Secret.

#pragma once

#include <map>
#include <string>
#include <vector>

namespace paddle::engine::juicefs {

using SecretValues = std::map<std::string, std::string>;

// The value of a key, or empty.
std::string value_of(const SecretValues& secret, const std::string& key);

// Values that must never be shown: all but names of things (name, storage, bucket, endpoint, ...).
std::vector<std::string> secrets_of(const SecretValues& secret);

}  // namespace paddle::engine::juicefs
