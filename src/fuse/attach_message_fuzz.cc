// SPDX-License-Identifier: Apache-2.0
//
// Any packet on the attach socket, from either side: it is decoded or refused, and what was decoded
// is encoded to the same value.

#include <cstdint>
#include <cstdlib>

#include "fuse/attach_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::fuse;
  const std::string_view packet(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_attach_request(packet); request) {
    if (!is_attach_name(request->name)) std::abort();
    if (*decode_attach_request(encode_attach_request(*request)) != *request) std::abort();
  }
  const auto answer = decode_attach_answer(packet);
  const auto again = decode_attach_answer(encode_attach_answer(answer));
  if (static_cast<bool>(answer) != static_cast<bool>(again)) std::abort();
  if (answer && *answer != *again) std::abort();
  if (!answer && answer.error().code != again.error().code) std::abort();
  return 0;
}
