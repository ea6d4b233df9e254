// SPDX-License-Identifier: Apache-2.0
#include "test/sealed/sample_cache.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "samplefs/index_builder.h"
#include "sealed/immutable.h"

namespace paddle::test {
namespace {

constexpr std::uint64_t kAlignment = 4096;
constexpr const char* kEtag = "etag-1";

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "sample cache: %s: %s\n", what, std::strerror(errno));
  std::abort();
}

}  // namespace

std::uint64_t sum_of(std::span<const std::byte> data) {
  std::uint64_t sum = data.size();
  std::size_t at = 0;
  for (; at + 8 <= data.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data() + at, 8);
    sum = (sum ^ word) * 0x9E3779B97F4A7C15u + at;
  }
  for (; at < data.size(); ++at) sum = sum * 131 + static_cast<std::uint8_t>(data[at]);
  return sum;
}

std::string sample_bytes(std::uint64_t seed, std::size_t size) {
  std::string bytes(size, '\0');
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::size_t at = 0; at < size; at += 8) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const std::uint64_t word = state | 0x0101010101010101u;  // no zero byte
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, size - at));
  }
  return bytes;
}

SampleCache::SampleCache(std::string directory) : directory_(std::move(directory)) {
  std::filesystem::create_directories(cache());
  std::filesystem::create_directories(images());
  cache_ = *sealed::open_directory(cache());
}

SampleCache::~SampleCache() {
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    const UniqueFd fd(::open(segment_path(i).c_str(), O_RDONLY | O_CLOEXEC));
    if (fd) sealed::set_immutable(fd.get(), false);
  }
}

std::string SampleCache::segment_path(std::uint32_t number) const {
  return cache() + "/segment." + std::to_string(number + 1);
}

void SampleCache::use_segment(std::uint32_t number, std::uint64_t offset) {
  if (segments_.size() <= number) segments_.resize(number + 1);
  current_ = number;
  if (segments_[number].size() < offset) segments_[number].resize(offset, '\1');
}

void SampleCache::poison(std::uint32_t number, std::uint64_t offset) {
  std::string& bytes = segments_[number];
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end(), 'P');
}

void SampleCache::add(const std::string& path, const std::string& bytes) {
  for (std::uint64_t at = 0; at < bytes.size(); at += samplefs::kBlockSize) {
    const samplefs::Block block = samplefs::block_at(path, kEtag, bytes.size(), at);
    std::string& segment = segments_[current_];
    const std::string_view data = std::string_view(bytes).substr(at, block.length);
    extents[block.key] = {.segment = current_,
                          .offset = segment.size(),
                          .length = data.size(),
                          .checksum = sum_of(std::as_bytes(std::span(data)))};
    segment += data;
    segment.resize((segment.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  files_[path] = bytes;
}

void SampleCache::add_samples(int count, std::size_t size) {
  for (int i = 0; i < count; ++i) {
    add("class-" + std::to_string(i % 10) + "/sample-" + std::to_string(i),
        sample_bytes(static_cast<std::uint64_t>(i), size + static_cast<std::size_t>(i)));
  }
}

void SampleCache::write(std::uint64_t generation) {
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    const UniqueFd fd(
        ::open(segment_path(i).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    require(bool(fd), "segment");
    std::string_view left = segments_[i];
    while (!left.empty()) {
      const ssize_t put = ::write(fd.get(), left.data(), left.size());
      require(put > 0, "write");
      left.remove_prefix(static_cast<std::size_t>(put));
    }
    require(::fdatasync(fd.get()) == 0, "sync");
  }
  samplefs::IndexBuilder builder;
  int seconds = 1'700'000'000;
  for (const auto& [path, bytes] : files_) {
    const auto added = builder.add({.path = path,
                                    .size = bytes.size(),
                                    .etag = kEtag,
                                    .modified = WallTime{std::chrono::seconds{++seconds}}});
    require(bool(added), "index");
  }
  require(bool(builder.write(cache() + "/index", generation)), "index");
}

sealed::ViewRequest SampleCache::request() {
  sealed::ViewRequest request;
  request.index = {cache_.get(), "index"};
  request.tiers = {cache_.get()};
  request.owner = ::getuid();
  request.locate = [this](const samplefs::Block& block) -> std::optional<samplefs::Extent> {
    const auto at = extents.find(block.key);
    if (at == extents.end()) return std::nullopt;
    return samplefs::Extent{.segment = {.tier = 0, .number = at->second.segment + 1},
                            .offset = at->second.offset,
                            .length = at->second.length,
                            .checksum = at->second.checksum};
  };
  request.checksum = sum_of;
  request.image_directory = images();
  return request;
}

void add_known_samples(SampleCache& cache) {
  for (int i = 0; i < 64; ++i) {
    cache.add(std::to_string(i), sample_bytes(static_cast<std::uint64_t>(i), 110'000));
  }
}

}  // namespace paddle::test
