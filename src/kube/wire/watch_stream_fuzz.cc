// SPDX-License-Identifier: Apache-2.0
// Both splitters on any bytes, in two chunkings derived from the input: no crash, bounded memory,
// and the same events for both chunkings.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/wire/list_splitter.h"
#include "kube/wire/watch_splitter.h"

namespace {

using namespace paddle;
using namespace paddle::kube;

constexpr size_t kLimit = 4096;

template <typename Feed>
Result<> in_pieces(std::string_view text, size_t step, const Feed& feed) {
  for (size_t at = 0; at < text.size(); at += step) CHECK_DONE(feed(text.substr(at, step)));
  return Done{};
}

std::string watch(std::string_view text, size_t step) {
  std::string log;
  WatchSplitter splitter(kLimit);
  const auto sink = [&](const WatchEvent& event) -> Result<> {
    if (event.object.size() > kLimit || event.object.front() != '{') std::abort();
    log.append("|").append(event.object);
    return Done{};
  };
  auto done =
      in_pieces(text, step, [&](std::string_view piece) { return splitter.feed(piece, sink); });
  if (done) done = splitter.finish();
  return log + (done ? "" : done.error().message);
}

std::string list(std::string_view text, size_t step) {
  std::string log;
  ListSplitter splitter(kLimit);
  const auto sink = [&](std::string_view item) -> Result<> {
    if (item.size() > kLimit || item.front() != '{') std::abort();
    log.append("|").append(item);
    return Done{};
  };
  auto done =
      in_pieces(text, step, [&](std::string_view piece) { return splitter.feed(piece, sink); });
  if (!done) return log + done.error().message;
  auto head = splitter.finish();
  return log + (head ? head->resource_version + head->continue_token : head.error().message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t step = 1 + data[0] % 64;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // A limit is noticed earlier or later depending on the chunks, never missed.
  if (watch(text, step) != watch(text, text.size())) {
    if (text.size() <= kLimit) std::abort();
  }
  if (list(text, step) != list(text, text.size())) {
    if (text.size() <= kLimit) std::abort();
  }
  return 0;
}
