// SPDX-License-Identifier: Apache-2.0
//
// Arbitrary bytes as the response of an S3 server: no crash, no endless loop, and accepted pages
// satisfy s3_list.h.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "source/s3/s3_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto page = paddle::source::parse_s3_page(text);
  if (page) {
    if (page->truncated && page->next.empty()) std::abort();
    if (page->first_key.empty() != page->last_key.empty()) std::abort();
    if (page->first_key.empty() && !page->objects.empty()) std::abort();
    for (const auto& object : page->objects) {
      if (object.key.empty()) std::abort();
    }
  }
  (void)paddle::source::s3_error_code(text);
  return 0;
}
