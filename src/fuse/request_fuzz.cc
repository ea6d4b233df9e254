// SPDX-License-Identifier: Apache-2.0
//
// Decodes and answers arbitrary bytes: no access out of bounds, and every answer fits.

#include <cstdlib>

#include "fuse/data_handler.h"
#include "fuse/fake/memory_file_system.h"

namespace {

paddle::fuse::MemoryFileSystem& files() {
  static auto* const made = [] {
    auto* fs = new paddle::fuse::MemoryFileSystem;
    fs->add_file("a/b/c", "hello");
    fs->add_file("a/d", std::string(70'000, 'x'));
    return fs;
  }();
  return *made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static paddle::fuse::BufferPool pool(64 * 1024, 2);
  paddle::fuse::DataHandler handler(files(), {}, pool);
  const auto request = paddle::fuse::decode({reinterpret_cast<const std::byte*>(data), size});
  if (!request) return 0;
  const paddle::fuse::Answer answer = handler.answer(*request);
  if (answer.error < 0 || answer.body().size() > pool.buffer_size()) std::abort();
  return 0;
}
