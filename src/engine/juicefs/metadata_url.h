// SPDX-License-Identifier: Apache-2.0
//
// The metadata URL of a volume, with and without its password. Pure.

#pragma once

#include <string>

#include "base/result.h"

namespace paddle::engine::juicefs {

struct MetadataUrl {
  std::string bare{};      // without the password, for command lines
  std::string whole{};     // with it
  std::string password{};  // decoded; empty: none, or none that can be told apart
};

// `password`: from the environment that the user gives, when the URL has none.
// kInvalid: what is wrong, without repeating it.
Result<MetadataUrl> read_metadata_url(std::string url, const std::string& password);

}  // namespace paddle::engine::juicefs
