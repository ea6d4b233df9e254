// SPDX-License-Identifier: Apache-2.0
//
// Standard base64 (RFC 4648): kubeconfigs, Secrets, etcd. Pure.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace paddle {

std::string base64_encode(std::string_view bytes);

// White space is ignored; padding may be missing, but only at the end. kInvalid otherwise.
Result<std::string> base64_decode(std::string_view text);

}  // namespace paddle
