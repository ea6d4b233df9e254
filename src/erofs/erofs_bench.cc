// SPDX-License-Identifier: Apache-2.0
//
// How large an image is and how long it takes: `erofs_bench FILES [IMAGE]`. 1,000 files in a
// directory, names of 23 bytes, 110 KB each. Without IMAGE the bytes are counted and dropped.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/clock.h"
#include "erofs/image_writer.h"

namespace {

long rss_anon_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  }
  return 0;
}

double since(paddle::BootTime start) {
  return std::chrono::duration<double>(paddle::system_clock().boot() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  if (count < 1) {
    std::fprintf(stderr, "usage: erofs_bench FILES [IMAGE]\n");
    return 2;
  }
  std::ofstream out;
  if (argc > 2) out.open(argv[2], std::ios::binary);
  constexpr std::uint64_t kBlocks = 27;  // of 110 KB
  constexpr std::uint64_t kSegment = 262'144;
  const auto total = static_cast<std::uint64_t>(count) * kBlocks;
  const auto start = paddle::system_clock().boot();
  paddle::erofs::Tree tree(std::vector<std::uint64_t>(total / (kSegment - kBlocks) + 1, kSegment));
  std::uint64_t block = 0;
  std::uint32_t device = 0;
  for (long i = 0; i < count; ++i) {
    char path[64];
    std::snprintf(path, sizeof path, "n%07ld/n%07ld_%09ld.JPEG", i / 1000, i / 1000, i);
    if (block + kBlocks > kSegment) {
      block = 0;
      ++device;
    }
    const paddle::erofs::Extent extents[] = {{.device = device, .block = block}};
    block += kBlocks;
    if (!tree.add({.path = path, .size = 110'000, .extents = extents})) return 1;
  }
  const double tree_seconds = since(start);
  const auto wrote = paddle::erofs::write_image(tree, {}, [&](std::string_view part) {
    if (out.is_open()) out.write(part.data(), static_cast<std::streamsize>(part.size()));
    return paddle::Result<>(paddle::Done{});
  });
  if (!wrote) return 1;
  std::printf(
      "files=%ld tree_s=%.3f total_s=%.3f image_bytes=%llu bytes_per_file=%.1f rss_anon_mib=%ld\n",
      count, tree_seconds, since(start), static_cast<unsigned long long>(*wrote),
      static_cast<double>(*wrote) / static_cast<double>(count), rss_anon_kib() >> 10);
  return 0;
}
