// SPDX-License-Identifier: Apache-2.0
//
// Any slots over any segments: the plan refuses a file, or every block that the image names lies
// within its segment. Input: sizes of three segments, then records of a path, a size and extents.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "erofs/image_reader.h"
#include "erofs/image_writer.h"
#include "sealed/plan/view_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using paddle::erofs::kBlock;
  using paddle::erofs::kChunk;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto take = [&](std::size_t count) {
    std::uint64_t number = 0;
    count = std::min({count, text.size(), sizeof number});
    std::memcpy(&number, text.data(), count);
    text.remove_prefix(count);
    return number;
  };
  // Small ones, that extents hit, and any.
  const std::uint64_t sizes[] = {take(2), take(4), take(8)};
  paddle::sealed::ViewPlan plan(sizes, {.bytes = std::uint64_t{1} << 62, .tree = {.entries = 300}});
  while (!text.empty()) {
    const std::uint64_t path_size = take(1) % 16;
    const std::string path(text.substr(0, path_size));
    text.remove_prefix(std::min(text.size(), path.size()));
    const std::uint64_t length = take(1) % 2 == 0 ? take(3) : take(8);
    std::vector<paddle::sealed::SegmentExtent> extents;
    std::uint64_t left = length;
    for (std::uint64_t count = take(1) % 8; count > 0; --count) {
      const std::uint64_t kind = take(1);
      const std::uint64_t offset = kind % 4 == 0 ? take(8) : take(2) * kBlock;
      const std::uint64_t part = kind % 16 == 1 ? take(8) : std::min(left, kChunk);
      left -= std::min(left, part);
      extents.push_back({static_cast<std::uint32_t>(kind / 16 % 4), offset, part, kind});
    }
    (void)plan.add({.path = path, .size = length, .extents = extents});
  }
  std::string image;
  if (!paddle::erofs::write_image(plan.tree(), {}, [&](std::string_view part) {
        image += part;
        return paddle::Result<>(paddle::Done{});
      })) {
    std::abort();
  }
  const paddle::erofs::ImageReader read(image);
  if (!read.fault().empty()) std::abort();
  for (const auto& [path, entry] : read.entries()) {
    std::uint64_t left = entry.directory ? 0 : entry.size;
    for (const auto& [device, block] : entry.extents) {
      const unsigned __int128 begin = static_cast<unsigned __int128>(block) * kBlock;
      const std::uint64_t part = std::min(left, kChunk);
      const std::uint64_t whole = (part + kBlock - 1) / kBlock * kBlock;
      if (device >= 3 || begin + whole > sizes[device]) std::abort();
      left -= part;
    }
    if (left != 0) std::abort();
  }
  const auto extents = plan.take_extents();
  if (extents) {
    for (const auto& each : *extents) {
      if (each.length == 0 || each.length > kChunk) std::abort();
    }
  }
  return 0;
}
