// SPDX-License-Identifier: Apache-2.0
#include "api/source_schemes.h"

#include <vector>

namespace paddle::api {

std::string juicefs_schemes() {
  std::string all;
  for (const SourceScheme& each : kSourceSchemes) {
    if (!is_built(each)) continue;
    all += (all.empty() ? "" : ", ") + std::string(each.name);
  }
  return all;
}

std::string samplefs_schemes() {
  std::vector<std::string> names;
  for (const SourceScheme& each : kSourceSchemes) {
    if (each.samplefs != SamplefsClient::kNone) names.push_back(std::string(each.name) + "://");
  }
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return all;
}

}  // namespace paddle::api
