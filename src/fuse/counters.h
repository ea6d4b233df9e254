// SPDX-License-Identifier: Apache-2.0
//
// The metrics of a session:
//
//   paddle_fuse_requests_total{op}   requests received from the kernel
//   paddle_fuse_errors_total{op}     requests answered with an errno other than ENOSYS
//   paddle_fuse_read_bytes_total     bytes of file content sent to the kernel
//   paddle_fuse_skipped_names_total  entries that no kernel accepts, left out of a listing
//
// Programs that read more than read_bytes got the rest from the page cache. Thread-safe.

#pragma once

#include <array>
#include <cstdint>

#include "base/metrics.h"
#include "fuse/protocol.h"

namespace paddle::fuse {

class Counters {
 public:
  explicit Counters(Metrics& metrics);

  void answered(std::uint32_t opcode, int error, std::size_t bytes);
  void skipped_name() { skipped_names_->Increment(); }

  // For tests and reports.
  std::uint64_t requests(std::uint32_t opcode) const;
  std::uint64_t errors(std::uint32_t opcode) const;
  std::uint64_t all_requests() const;
  std::uint64_t read_bytes() const;
  std::uint64_t skipped_names() const;

 private:
  // The last counter is for every unknown opcode.
  std::array<prometheus::Counter*, kKnownOpcodes + 1> requests_{};
  std::array<prometheus::Counter*, kKnownOpcodes + 1> errors_{};
  prometheus::Counter* read_bytes_;
  prometheus::Counter* skipped_names_;
};

}  // namespace paddle::fuse
