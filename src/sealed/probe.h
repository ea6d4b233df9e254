// SPDX-License-Identifier: Apache-2.0
//
// Tries on the file system of a cache what a sealed view needs: a segment is written, made
// immutable, mounted below a tiny image with direct I/O and read; then a file whose extent lies
// beyond the end of the segment has to fail. plan/probe_result.h decides on what was seen. Leaves
// nothing behind; needs CAP_SYS_ADMIN and CAP_LINUX_IMMUTABLE.

#pragma once

#include <string>

#include "base/result.h"
#include "sealed/plan/probe_result.h"

namespace paddle::sealed {

// An error only when the directory cannot be written at all.
Result<ProbeObservation> observe(const std::string& cache_directory,
                                 const std::string& image_directory);

// judge(observe()); an error becomes a result with its reason.
ProbeResult probe(const std::string& cache_directory, const std::string& image_directory);

}  // namespace paddle::sealed
