// SPDX-License-Identifier: Apache-2.0
//
// The two messages of attach.h as text: one packet there, one packet back. Pure.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fuse/negotiate.h"

namespace paddle::fuse {

inline constexpr std::size_t kAttachPacket = 4096;  // no message is longer
inline constexpr std::size_t kAttachChannels = 16;  // descriptors of one request
inline constexpr const char* kAttachSocketName = "attach.sock";

struct AttachRequest {
  std::string name{};
  std::optional<Negotiated> resumed{};
  bool operator==(const AttachRequest&) const = default;
};

// 1 to 255 printable characters.
bool is_attach_name(std::string_view name);

// decode(encode(x)) == x for a name that is one; anything else is kInvalid.
std::string encode_attach_request(const AttachRequest& request);
Result<AttachRequest> decode_attach_request(std::string_view packet);

// What the server said: its value, its error, or kInvalid when it is no answer.
std::string encode_attach_answer(const Result<Negotiated>& answer);
Result<Negotiated> decode_attach_answer(std::string_view packet);

}  // namespace paddle::fuse
