// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as the response of an S3 server: no crash, no endless loop, and accepted pages
// satisfy s3_list.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "source/path_rules.h"
#include "source/s3_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto page = paddle::source::parse_s3_page(text);
  if (page) {
    if (page->truncated && page->next.empty()) std::abort();
    for (const auto& object : page->objects) {
      if (object.key.empty() || !paddle::source::is_etag(object.etag)) std::abort();
    }
  }
  (void)paddle::source::s3_error_code(text);
  return 0;
}
