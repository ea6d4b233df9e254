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
  std::string password{};  // decoded; empty: none
};

// `password`: from the environment that the user gives, when the URL has none.
// kInvalid: what is wrong, without repeating it; also a password that could not be left out of a
// command line.
Result<MetadataUrl> read_metadata_url(std::string url, const std::string& password);

// Whether a privileged pod may be given it (the bare one): a server of a known kind, with
// parameters that name no file and let the server read none. kInvalid: a clause about 'metaurl'
// that names the scheme or parameter.
Result<> check_metadata_url(const std::string& bare);

}  // namespace paddle::engine::juicefs
