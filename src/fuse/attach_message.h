// SPDX-License-Identifier: Apache-2.0
//
// The wire format of attach.h: one text packet as request, one as reply. Pure.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fuse/negotiate.h"

namespace paddle::fuse {

inline constexpr std::size_t kAttachPacket = 4096;  // maximum size of a message
inline constexpr std::size_t kAttachChannels = 16;  // maximum number of descriptors in one request
inline constexpr const char* kAttachSocketName = "attach.sock";

struct AttachRequest {
  std::string name{};
  std::optional<Negotiated> resumed{};
  bool operator==(const AttachRequest&) const = default;
};

// 1 to 255 printable characters.
bool is_attach_name(std::string_view name);

// decode(encode(x)) == x for a valid name; anything else is kInvalid.
std::string encode_attach_request(const AttachRequest& request);
Result<AttachRequest> decode_attach_request(std::string_view packet);

// Returns the server's value or its error; kInvalid when the packet is not a reply.
std::string encode_attach_answer(const Result<Negotiated>& answer);
Result<Negotiated> decode_attach_answer(std::string_view packet);

}  // namespace paddle::fuse
