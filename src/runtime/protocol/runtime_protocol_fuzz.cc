// SPDX-License-Identifier: Apache-2.0
//
// Any input is decoded or refused, and what was decoded is encoded to the same value.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "runtime/protocol/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::runtime;
  const auto json = paddle::api::parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  if (const auto value = decode_job_request(*json); value) {
    if (*decode_job_request(encode(*value)) != *value) std::abort();
  }
  if (const auto value = decode_job_report(*json); value) {
    if (*decode_job_report(encode(*value)) != *value) std::abort();
  }
  if (const auto value = decode_status_report(*json); value) {
    if (*decode_status_report(encode(*value)) != *value) std::abort();
  }
  if (const auto value = decode_poll_report(*json); value) {
    if (*decode_poll_report(encode(*value)) != *value) std::abort();
  }
  return 0;
}
