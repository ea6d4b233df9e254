// SPDX-License-Identifier: Apache-2.0
//
// What an index of many files costs: opening it, checking all of it, and making the metadata image
// of a sealed view from it.
//
//   seal_index INDEX
//
// INDEX: an index that a runtime wrote. The samples are taken to lie one after the other in one
// segment, which need not exist: reading and checking their bytes, which sealing does too, takes as
// long as the disk needs for them. The image is written to a file without a name beside the index.
// Prints one line of JSON.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "erofs/image_writer.h"
#include "samplefs/block.h"
#include "samplefs/index.h"
#include "sealed/plan/view_plan.h"

namespace paddle {
namespace {

using samplefs::Index;

constexpr std::uint64_t kSegment = std::uint64_t{1} << 42;
constexpr std::uint64_t kPage = 4096;

double seconds_since(BootTime start) {
  return std::chrono::duration<double>(system_clock().boot() - start).count();
}

// Adds everything beneath a directory, in the order of paths.
class Walk {
 public:
  Walk(const Index& index, sealed::ViewPlan& plan)
      : index_(index), plan_(plan), generation_(std::to_string(index.generation())) {}

  Result<> add(Index::Position directory, const std::string& path) {
    const auto [first, count] = index_.children(directory);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Index::Entry entry = index_.at(first + i);
      const std::string name =
          path.empty() ? std::string(entry.name) : path + "/" + std::string(entry.name);
      if (entry.directory) {
        CHECK_DONE(plan_.add_directory(name, entry.modified));
        CHECK_DONE(add(entry.position, name));
      } else {
        CHECK_DONE(add_file(entry, name));
      }
    }
    return Done{};
  }

 private:
  Result<> add_file(const Index::Entry& entry, const std::string& path) {
    extents_.clear();
    for (std::uint64_t at = 0; at < entry.size; at += samplefs::kBlockSize) {
      const std::uint64_t length = std::min(entry.size - at, samplefs::kBlockSize);
      extents_.push_back({.segment = 0, .offset = next_, .length = length, .checksum = next_});
      next_ += (length + kPage - 1) / kPage * kPage;
    }
    const erofs::Xattr xattrs[] = {{"samplefs.etag", entry.etag},
                                   {"samplefs.generation", generation_}};
    return plan_.add({.path = path,
                      .size = entry.size,
                      .modified = entry.modified,
                      .extents = extents_,
                      .xattrs = xattrs});
  }

  const Index& index_;
  sealed::ViewPlan& plan_;
  const std::string generation_;
  std::uint64_t next_ = 0;
  std::vector<sealed::SegmentExtent> extents_{};
};

Result<std::uint64_t> write_image(const erofs::Tree& tree, int file) {
  return erofs::write_image(tree, {}, [&](std::string_view part) -> Result<> {
    while (!part.empty()) {
      const ssize_t put = ::write(file, part.data(), part.size());
      if (put <= 0) return Error{Code::kUnavailable, "the image cannot be written"};
      part.remove_prefix(static_cast<std::size_t>(put));
    }
    return Done{};
  });
}

Result<> run(const std::string& file) {
  BootTime start = system_clock().boot();
  TRY(const auto index, Index::open(file));
  const double open = seconds_since(start);
  start = system_clock().boot();
  CHECK_DONE(index->verify());
  const double verify = seconds_since(start);

  const std::string directory = file.substr(0, file.rfind('/') + 1) + ".";
  const UniqueFd image(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!image) return Error{Code::kUnavailable, "no file can be made in " + directory};
  start = system_clock().boot();
  sealed::ViewPlan plan;
  plan.add_segment(kSegment);
  CHECK_DONE(Walk(*index, plan).add(Index::kRoot, ""));
  TRY(const auto extents, plan.take_extents());
  TRY(const std::uint64_t bytes, write_image(plan.tree(), image.get()));
  const double seal = seconds_since(start);
  std::printf("{\"files\": %" PRIu64
              ", \"open_ms\": %.3f, \"verify_s\": %.3f, \"seal_s\": %.3f, "
              "\"image_bytes\": %" PRIu64 ", \"extents\": %zu}\n",
              plan.files(), open * 1e3, verify, seal, bytes, extents.size());
  return Done{};
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: seal_index INDEX\n");
    return 2;
  }
  const auto done = paddle::run(argv[1]);
  if (!done) std::fprintf(stderr, "seal_index: %s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
