// SPDX-License-Identifier: Apache-2.0
// Any bytes as a kubeconfig: no crash, no hang, and every context either resolves or is an error.

#include <cstdint>
#include <string_view>

#include "kube/config/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  using namespace paddle::kube;
  const auto parsed = parse_kubeconfig({reinterpret_cast<const char*>(data), size}, "/dir");
  if (!parsed) return 0;
  (void)static_cast<bool>(resolve(*parsed, ""));
  for (const auto& [name, context] : parsed->contexts)
    (void)static_cast<bool>(resolve(*parsed, name));
  return 0;
}
