// SPDX-License-Identifier: Apache-2.0
//
// Any patch of any object: it is refused, or gives an object that is not much larger than both.
// Input: the object and the patch, one per line. A merge that is applied twice gives what it gave
// once.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "local/api_server/patches.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (line == text.npos) return 0;
  const auto object = api::parse_json(text.substr(0, line));
  const auto patch = api::parse_json(text.substr(line + 1));
  if (!object || !patch || !object->is_object()) return 0;
  for (const auto style :
       {local::PatchStyle::kMerge, local::PatchStyle::kJson, local::PatchStyle::kStrategic}) {
    const auto made = local::patched(*object, style, *patch);
    if (!made) continue;
    (void)api::dump_json(*made);
    if (style != local::PatchStyle::kMerge) continue;
    const auto twice = local::patched(*made, style, *patch);
    if (!twice || *twice != *made) std::abort();
  }
  return 0;
}
