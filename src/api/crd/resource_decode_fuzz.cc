// SPDX-License-Identifier: Apache-2.0
//
// Any text: decoding and validating never crashes, and what decodes encodes to the same JSON.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api/core/pod.h"
#include "api/crd/validate.h"
#include "api/paddle_job.h"
#include "api/sample_job.h"
#include "api/sample_set.h"

namespace {

using namespace paddle;
using namespace paddle::api;

template <typename Object>
void expect_identity(const Result<Object>& decoded, const Json& from) {
  if (decoded && encode(*decoded) != from) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const auto json = parse_json({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  expect_identity(decode_paddle_job(*json), *json);
  expect_identity(decode_sample_set(*json), *json);
  expect_identity(decode_sample_job(*json), *json);
  if (decode_pod(*json)) dump_json(*json);
  for (const Kind kind : kAllKinds) {
    validate(kind, *json);
    validate(kind, *json, {.old = &*json, .status = true, .strict = false});
  }
  return 0;
}
