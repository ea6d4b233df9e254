// SPDX-License-Identifier: Apache-2.0
//
// Digests that signatures are made of. Pure.

#pragma once

#include <string>
#include <string_view>

namespace paddle::source {

std::string hex(std::string_view bytes);  // in lower case
std::string sha256(std::string_view text);
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace paddle::source
