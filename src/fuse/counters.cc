// SPDX-License-Identifier: Apache-2.0
#include "fuse/counters.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

namespace paddle::fuse {
namespace {

std::size_t slot(std::uint32_t opcode) { return std::min(opcode, kKnownOpcodes); }

std::uint64_t value_of(const prometheus::Counter* counter) {
  return static_cast<std::uint64_t>(counter->Value());
}

}  // namespace

Counters::Counters(Metrics& metrics)
    : read_bytes_(&metrics.counter("paddle_fuse_read_bytes_total",
                                   "Bytes of file content handed to the kernel", {})),
      skipped_names_(&metrics.counter("paddle_fuse_skipped_names_total",
                                      "Entries that no kernel accepts, left out of a listing",
                                      {})) {
  for (std::uint32_t opcode = 0; opcode <= kKnownOpcodes; ++opcode) {
    const Labels labels{{"op", std::string(opcode_name(opcode))}};
    requests_[opcode] =
        &metrics.counter("paddle_fuse_requests_total", "Requests of the kernel", labels);
    errors_[opcode] = &metrics.counter("paddle_fuse_errors_total",
                                       "Requests answered with an errno other than ENOSYS", labels);
  }
}

void Counters::answered(std::uint32_t opcode, int error, std::size_t bytes) {
  requests_[slot(opcode)]->Increment();
  if (error != 0 && error != ENOSYS) errors_[slot(opcode)]->Increment();
  if (opcode == FUSE_READ && error == 0) read_bytes_->Increment(static_cast<double>(bytes));
}

std::uint64_t Counters::requests(std::uint32_t opcode) const {
  return value_of(requests_[slot(opcode)]);
}
std::uint64_t Counters::errors(std::uint32_t opcode) const {
  return value_of(errors_[slot(opcode)]);
}
std::uint64_t Counters::read_bytes() const { return value_of(read_bytes_); }
std::uint64_t Counters::skipped_names() const { return value_of(skipped_names_); }

std::uint64_t Counters::all_requests() const {
  // Opcodes without a name share one counter.
  const std::set<const prometheus::Counter*> distinct(requests_.begin(), requests_.end());
  std::uint64_t sum = 0;
  for (const auto* counter : distinct) sum += value_of(counter);
  return sum;
}

}  // namespace paddle::fuse
