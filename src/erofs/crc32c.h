// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli) as the superblock of EROFS has it: started with all ones, not inverted at
// the end.

#pragma once

#include <cstdint>
#include <string_view>

namespace paddle::erofs {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace paddle::erofs
