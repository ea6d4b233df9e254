// SPDX-License-Identifier: Apache-2.0
#include "erofs/crc32c.h"

namespace paddle::erofs {

// Bit by bit: it covers 3 KiB of an image.
std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return crc;
}

}  // namespace paddle::erofs
