// SPDX-License-Identifier: Apache-2.0
//
// Formats the progress of an object as one line. Pure.

#pragma once

#include <cstdint>
#include <string>

#include "api/json/json.h"

namespace paddle::cli {

// A SampleSet: "Ready [######......] 50 %, 1.5 GiB of 3.0 GiB cached"; a PaddleJob: "Starting, 1 of
// 2 pods running: ..."; others: the phase and the message of the Ready condition.
std::string progress_line(const api::Json& object);

// "[#####.....] 50 %": full only when `done` has reached `total`.
std::string bar(std::int64_t done, std::int64_t total, int width = 20);

std::string human_bytes(std::int64_t bytes);  // "0 B", "1.5 KiB", "12.0 GiB"

}  // namespace paddle::cli
