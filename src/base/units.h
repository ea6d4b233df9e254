// SPDX-License-Identifier: Apache-2.0
//
// Numbers in readable form. Pure.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace paddle {

// "200 B", "4.0 KiB", "58 MiB", "4.2 GiB": powers of 1024, one decimal below ten. A negative
// number is 0 B.
std::string human_size(std::int64_t bytes);

// "95s", "4m30s", "3h", "2d5h": as kubectl formats an age.
std::string human_duration(std::chrono::seconds span);

// "128,660".
std::string with_commas(std::int64_t number);

}  // namespace paddle
