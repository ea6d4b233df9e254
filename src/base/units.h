// SPDX-License-Identifier: Apache-2.0
//
// Numbers in readable form. Pure.

#pragma once

#include <cstdint>
#include <string>

namespace paddle {

// "200 B", "4.0 KiB", "58 MiB", "4.2 GiB": powers of 1024, one decimal below ten. A negative
// number is 0 B.
std::string human_size(std::int64_t bytes);

// "128,660".
std::string with_commas(std::int64_t number);

}  // namespace paddle
