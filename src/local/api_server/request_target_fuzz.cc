// SPDX-License-Identifier: Apache-2.0
//
// Any target and body of a request to the local API server: parsed or refused. No segment of a
// parsed path leads out of it, and selectors are matched without a crash.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "kube/rules/selector.h"
#include "local/api_server/parameters.h"
#include "local/api_server/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const auto target = local::parse_target(text.substr(0, line));
  if (!target) return 0;
  for (const std::string& segment : target->path) {
    if (segment == "." || segment == ".." || segment.find('/') != segment.npos) std::abort();
  }
  const std::string body(text.substr(std::min(line + 1, text.size())));
  (void)static_cast<bool>(local::read_write_options(*target));
  (void)static_cast<bool>(local::read_delete_options(*target, body));
  (void)static_cast<bool>(local::read_log_request({"ns", "pod"}, *target));
  (void)local::read_patch_style(body);
  const auto selector =
      kube::Selector::parse((*target)["labelSelector"], (*target)["fieldSelector"]);
  static const api::Json object = {
      {"metadata", {{"name", "x"}, {"namespace", "ns"}, {"labels", {{"app", "web"}, {"a", "b"}}}}}};
  if (selector) (void)selector->matches(object);
  return 0;
}
