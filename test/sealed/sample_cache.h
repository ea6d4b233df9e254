// SPDX-License-Identifier: Apache-2.0
//
// A cache as a runtime leaves it: an index and segments, with what the store would tell about each
// block. The same files in the same order give the same layout, so that another process can make
// the same request without writing anything.

#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "sealed/safe_open.h"
#include "sealed/view_builder.h"

namespace paddle::test {

std::uint64_t sum_of(std::span<const std::byte> data);
// Bytes that differ from file to file and from block to block.
std::string sample_bytes(std::uint64_t seed, std::size_t size);

class SampleCache {
 public:
  // Makes <directory>/cache and <directory>/images.
  explicit SampleCache(std::string directory);
  ~SampleCache();  // lifts the flag of segments, so that they can be removed

  // Into the current segment.
  void add(const std::string& path, const std::string& bytes);
  void add_samples(int count, std::size_t size);  // "class-<i % 10>/sample-<i>"
  // Later blocks go to another segment, from `offset` on; a block of 4 MiB at a time.
  void use_segment(std::uint32_t number, std::uint64_t offset);

  // Other bytes from `offset` to the end of a segment.
  void poison(std::uint32_t number, std::uint64_t offset);

  // Writes segments and index; then a request is complete.
  void write(std::uint64_t generation = 1);
  sealed::ViewRequest request();

  const std::map<std::string, std::string>& files() const { return files_; }
  std::string segment_path(std::uint32_t number) const;
  std::string cache() const { return directory_ + "/cache"; }
  std::string images() const { return directory_ + "/images"; }

  // What the store tells, for tests that let it lie.
  std::unordered_map<samplefs::BlockKey, sealed::SegmentExtent, samplefs::BlockKeyHash> extents{};

 private:
  const std::string directory_;
  UniqueFd cache_{};
  std::map<std::string, std::string> files_{};
  std::vector<std::string> segments_{""};  // their bytes
  std::uint32_t current_ = 0;
};

// The set that sealed_child knows.
void add_known_samples(SampleCache& cache);

}  // namespace paddle::test
