// SPDX-License-Identifier: Apache-2.0
#include "fuse/attach_message.h"

#include <algorithm>
#include <array>

namespace paddle::fuse {
namespace {

constexpr std::string_view kRequest = "attach1 ";
constexpr std::string_view kAgreed = "agreed1 ";
constexpr std::string_view kError = "error1 ";
constexpr std::size_t kLongestReason = 1000;

constexpr std::array kCodes{Code::kNotFound,  Code::kAlreadyExists, Code::kConflict,
                            Code::kInvalid,   Code::kUnauthorized,  Code::kForbidden,
                            Code::kExpired,   Code::kThrottled,     Code::kUnavailable,
                            Code::kUntrusted, Code::kDeadline,      Code::kCancelled,
                            Code::kInternal};

bool take(std::string_view& from, std::string_view prefix) {
  if (!from.starts_with(prefix)) return false;
  from.remove_prefix(prefix.size());
  return true;
}

}  // namespace

bool is_attach_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
}

std::string encode_attach_request(const AttachRequest& request) {
  return std::string(kRequest) + request.name + "\n" +
         (request.resumed ? to_text(*request.resumed) : "");
}

Result<AttachRequest> decode_attach_request(std::string_view packet) {
  const Error bad{Code::kInvalid,
                  "not an attach request; node and runtime have different versions"};
  if (!take(packet, kRequest)) return bad;
  const std::size_t end = packet.find('\n');
  if (end == packet.npos || !is_attach_name(packet.substr(0, end))) return bad;
  AttachRequest request{.name = std::string(packet.substr(0, end))};
  packet.remove_prefix(end + 1);
  if (!packet.empty()) {
    TRY(request.resumed, negotiated_from_text(packet));
  }
  return request;
}

std::string encode_attach_answer(const Result<Negotiated>& answer) {
  if (answer) return std::string(kAgreed) + to_text(*answer);
  return std::string(kError) + std::string(name(answer.error().code)) + " " +
         answer.error().message.substr(0, kLongestReason);
}

Result<Negotiated> decode_attach_answer(std::string_view packet) {
  const Error bad{Code::kInvalid,
                  "not a reply to attach; node and runtime have different versions"};
  if (take(packet, kAgreed)) return negotiated_from_text(packet);
  if (!take(packet, kError)) return bad;
  for (const Code code : kCodes) {
    std::string_view rest = packet;
    if (take(rest, name(code)) && take(rest, " ")) return Error{code, std::string(rest)};
  }
  return bad;
}

}  // namespace paddle::fuse
