// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as XML, and as the URI of a source: the reader ends, within its depth, and a URI that
// is accepted is written as it was read.

#include <cstdint>
#include <cstdlib>

#include "source/s3/xml.h"
#include "source/source_uri.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::source;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  XmlReader reader(text);
  for (std::size_t tokens = 0;; ++tokens) {
    if (tokens > 2 * size + 2) std::abort();  // each consumes something
    const auto token = reader.next();
    if (!token || *token == XmlReader::Token::kEnd) break;
    if (reader.depth() > XmlReader::kMaxDepth) std::abort();
  }
  if (const auto plain = decode_xml(text); plain && plain->size() > size) std::abort();
  if (const auto uri = parse_source_uri(text); uri) {
    const auto again = parse_source_uri(to_string(*uri));
    if (!again || *again != *uri) std::abort();
  }
  return 0;
}
