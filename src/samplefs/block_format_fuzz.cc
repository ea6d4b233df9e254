// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a stored block: it is whole only if it is exactly what was written, and names of
// files in the store are parsed or refused. The first bytes of the input choose what is damaged, so
// that the checks behind the hashes are reached.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "samplefs/block_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddle::samplefs;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  BlockKey key;
  if (parse_hex(text.substr(0, 32), key) && hex(key) != text.substr(0, 32)) std::abort();

  if (size < 4) return 0;
  const std::size_t etag_size = data[0] % 32;
  const std::size_t at = data[1] + std::size_t{256} * (data[2] % 2);
  const std::uint8_t damage = data[3];
  const std::string_view rest = text.substr(4);
  const std::string etag(rest.substr(0, std::min(etag_size, rest.size())));
  const std::string_view stored = rest.substr(etag.size());
  const auto bytes = [](std::string_view of) {
    return std::span(reinterpret_cast<const std::byte*>(of.data()), of.size());
  };

  // Foreign bytes behind the data of an expected block.
  if (!stored.empty()) {
    const std::size_t length = 1 + at % stored.size();
    const Block expected = block_at("a/sample", etag, length, 0);
    const auto contents = stored.substr(0, length);
    std::string tail(stored.substr(length));
    if (block_is_whole(expected, bytes(contents), bytes(tail)) &&
        tail != block_tail(expected, bytes(contents))) {
      std::abort();
    }
    // A right one, and the same with one byte damaged.
    tail = block_tail(expected, bytes(contents));
    if (!block_is_whole(expected, bytes(contents), bytes(tail))) std::abort();
    if (damage == 0) return 0;
    if (at < tail.size()) {
      tail[at] = static_cast<char>(tail[at] ^ static_cast<char>(damage));
      if (block_is_whole(expected, bytes(contents), bytes(tail))) std::abort();
    } else {
      std::string other(contents);
      other[at % other.size()] =
          static_cast<char>(other[at % other.size()] ^ static_cast<char>(damage));
      if (block_is_whole(expected, bytes(other), bytes(tail))) std::abort();
    }
  }
  return 0;
}
