// SPDX-License-Identifier: Apache-2.0
#include "base/base64.h"

#include <array>
#include <cstdint>

namespace paddle {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int, 256> make_values() {
  std::array<int, 256> values{};
  for (int& value : values) value = -1;
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int>(i);
  }
  return values;
}
constexpr auto kValues = make_values();

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](size_t i) {
      return at + i < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[at + i])} : 0u;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += kAlphabet[group >> 18];
    out += kAlphabet[group >> 12 & 63];
    out += at + 1 < bytes.size() ? kAlphabet[group >> 6 & 63] : '=';
    out += at + 2 < bytes.size() ? kAlphabet[group & 63] : '=';
  }
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  const Error bad{Code::kInvalid, "not valid base64"};
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;  // of bits waiting
  size_t digits = 0, padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = kValues[static_cast<unsigned char>(c)];
    if (value < 0 || padding > 0) return bad;
    ++digits;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out += static_cast<char>(bits >> count & 0xff);
    }
  }
  if (digits % 4 == 1 || padding > 2) return bad;
  if (padding > 0 && (digits + padding) % 4 != 0) return bad;
  return out;
}

}  // namespace paddle
