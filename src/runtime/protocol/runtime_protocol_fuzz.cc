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
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto ids = jobs_of_query(std::string(text)); ids && ids->size() <= 100) {
    const std::string path = poll_path(*ids);
    for (const std::string& id : *ids) {
      if (id != kAllJobs && !is_job_id(id)) std::abort();
    }
    if (!jobs_of_query(path.substr(path.find('?') + 1))) std::abort();
  }
  const auto json = paddle::api::parse_json(text);
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
    const bool fits = !value->jobs || value->jobs->size() <= 100;  // encode_jobs()
    if (fits && *decode_poll_report(encode(*value)) != *value) std::abort();
  }
  return 0;
}
