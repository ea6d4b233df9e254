// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file of keys: refused, or written again as the same keys.

#include <cstdint>
#include <cstdlib>

#include "engine/samplefs/node/sources/source_keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::engine::samplefs;
  const auto keys = decode_keys({reinterpret_cast<const char*>(data), size});
  if (!keys) return 0;
  const auto again = decode_keys(encode_keys(*keys));
  if (!again || *again != *keys) std::abort();
  return 0;
}
