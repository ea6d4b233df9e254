// SPDX-License-Identifier: Apache-2.0
//
// Any bytes after the envelope of a protobuf body: one of the two objects as JSON that can be
// written, or refused.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "local/api_server/protobuf_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle;
  const std::string body =
      std::string("k8s\0", 4) + std::string(reinterpret_cast<const char*>(data), size);
  const auto decoded = local::decode_protobuf_body(body);
  if (!decoded) return 0;
  const std::string kind = decoded->value("kind", "");
  if (kind != "DeleteOptions" && kind != "Eviction") std::abort();
  if (!api::Json::accept(decoded->dump())) std::abort();  // dump() throws where it is no UTF-8
  return 0;
}
