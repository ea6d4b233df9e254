// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/secret_values.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace paddle::engine::juicefs {
namespace {

constexpr auto kPublic = std::to_array<std::string_view>(
    {"name", "storage", "bucket", "endpoint", "region", "ca.crt", "block-size", "capacity",
     "compress", "inodes", "shards", "storage-class", "trash-days",
     // Of samplefs: "true" in a log is no secret.
     "address-style", "bwlimit", "list-threads", "version-ids", "etag-is-md5"});

}  // namespace

std::string value_of(const SecretValues& secret, const std::string& key) {
  const auto found = secret.find(key);
  return found == secret.end() ? std::string() : found->second;
}

std::vector<std::string> secrets_of(const SecretValues& secret) {
  std::vector<std::string> all;
  for (const auto& [key, value] : secret) {
    if (std::find(kPublic.begin(), kPublic.end(), key) == kPublic.end()) all.push_back(value);
  }
  return all;
}

}  // namespace paddle::engine::juicefs
