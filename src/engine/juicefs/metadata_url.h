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

// `password`: from the user's variables, when the URL has none. kInvalid: what is wrong, without
// the URL; also a password that JuiceFS takes only on its command line.
Result<MetadataUrl> read_metadata_url(std::string url, const std::string& password);

// Whether a privileged pod may get the bare URL: a server of a known kind, with parameters that
// neither name a file nor let the server read one. kInvalid: a clause about 'metaurl' with the
// scheme or parameter.
Result<> check_metadata_url(const std::string& bare);

}  // namespace paddle::engine::juicefs
