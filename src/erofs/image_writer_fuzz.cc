// SPDX-License-Identifier: Apache-2.0
//
// Any list of entries: the tree refuses it, or the image is read back as exactly those entries;
// one input in 32 is also shown to fsck.erofs, where that is installed. Input: lines of a path;
// the bytes before it choose kind, size and place.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "erofs/image_reader.h"
#include "erofs/image_writer.h"

namespace {

using namespace paddle::erofs;

constexpr const char* kFsck = "/usr/bin/fsck.erofs";

void show_to_fsck(const std::string& image) {
  static const bool kInstalled = [] {
    std::FILE* file = std::fopen(kFsck, "r");
    if (file != nullptr) std::fclose(file);
    return file != nullptr;
  }();
  if (!kInstalled) return;
  std::FILE* file = std::tmpfile();
  if (file == nullptr || std::fwrite(image.data(), 1, image.size(), file) != image.size() ||
      std::fflush(file) != 0) {
    std::abort();
  }
  const std::string name = "/proc/$PPID/fd/" + std::to_string(fileno(file));
  std::string devices;
  for (int i = 0; i < 4; ++i) devices += " --device=/dev/zero";
  const std::string command = std::string(kFsck) + devices + " " + name + " >/dev/null 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::fputs("fsck.erofs refused the image\n", stderr);
    std::abort();
  }
  std::fclose(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string_view text = input;
  Tree tree({1, 1500, 0xFFFFFFFF, std::uint64_t{1} << 40}, {.entries = 500, .depth = 64});
  std::map<std::string,
           std::pair<std::uint64_t, std::vector<std::pair<std::uint32_t, std::uint64_t>>>>
      wanted;
  while (text.size() > 4) {
    const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
    const std::string_view path = text.substr(4, text.find('\n', 4) - std::size_t{4});
    const std::uint64_t length = std::uint64_t{byte(0)} << (byte(1) % 57);
    std::vector<Extent> extents;
    const std::uint64_t count = std::min<std::uint64_t>((length + kChunk - 1) / kChunk, 40);
    for (std::uint64_t i = 0; i < count + byte(1) / 250; ++i) {
      extents.push_back(
          {.device = byte(2) % 5u, .block = (std::uint64_t{byte(3)} + i) << byte(2) / 8});
    }
    if (byte(1) == 1) {
      (void)tree.add_directory(path, {});
    } else if (tree.add({.path = path, .size = length, .extents = extents})) {
      auto& [had, places] = wanted[std::string(path)];
      had = length;
      for (const Extent& each : extents) places.emplace_back(each.device, each.block);
    }
    text.remove_prefix(std::min(text.size(), 4 + path.size() + 1));
  }
  std::string image;
  if (!write_image(tree, {}, [&](std::string_view part) -> paddle::Result<> {
        image += part;
        return paddle::Done{};
      })) {
    std::abort();
  }
  const ImageReader read(image);
  if (!read.fault().empty() || read.entries().size() != tree.size()) std::abort();
  std::size_t files = 0;
  for (const auto& [path, entry] : read.entries()) {
    if (entry.directory) continue;
    ++files;
    const auto at = wanted.find(path);
    if (at == wanted.end() || at->second.first != entry.size ||
        at->second.second != entry.extents) {
      std::abort();
    }
  }
  if (files != wanted.size()) std::abort();
  if (std::hash<std::string_view>{}(input) % 32 == 0) show_to_fsck(image);
  return 0;
}
