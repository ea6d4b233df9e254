// SPDX-License-Identifier: Apache-2.0
#include "sealed/view_builder.h"

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "erofs/image_writer.h"
#include "fuse/device_error.h"
#include "sealed/safe_open.h"

namespace paddle::sealed {
namespace {

using fuse::device_error;
using samplefs::Index;

// The segments that blocks were located in; releases them unless the view takes them over.
class Segments {
 public:
  Segments(const ViewRequest& request, ViewPlan& plan, ImmutableSegments& holds)
      : request_(request), plan_(plan), holds_(holds) {}
  ~Segments() {
    for (const UniqueFd& file : files_) holds_.release(file.get());
  }
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  // Its place in the plan.
  Result<std::uint32_t> place_of(const samplefs::SegmentId& id) {
    const auto known = places_.find(id);
    if (known != places_.end()) return known->second;
    TRY(const std::uint32_t place, open(id));
    places_[id] = place;
    return place;
  }
  std::vector<int> descriptors() const {
    std::vector<int> all;
    for (const UniqueFd& file : files_) all.push_back(file.get());
    return all;
  }
  std::vector<UniqueFd> take() { return std::exchange(files_, {}); }

 private:
  Result<std::uint32_t> open(const samplefs::SegmentId& id) {
    if (id.tier >= request_.tiers.size() || request_.tiers[id.tier] < 0) {
      return Error{Code::kInvalid,
                   "a sample lies in tier " + std::to_string(id.tier) + ", which no view can use"};
    }
    if (files_.size() >= request_.max_segments) {
      return Error{Code::kInvalid, "the samples lie in more than " +
                                       std::to_string(request_.max_segments) + " segments"};
    }
    const std::string name = samplefs::segment_file(id.number);
    TRY(UniqueFd file, open_beneath(request_.tiers[id.tier], name, request_.owner));
    TRY(const bool in_memory, lies_in_memory(file.get()));
    if (in_memory) {
      return Error{Code::kInvalid,
                   "'" + name + "' lies in memory, where a view would hold every byte twice"};
    }
    CHECK_DONE(holds_.hold(file.get()));
    files_.push_back(std::move(file));
    // Only now can no process change it.
    TRY(const std::uint64_t size, size_of(files_.back().get()));
    return plan_.add_segment(size);
  }

  const ViewRequest& request_;
  ViewPlan& plan_;
  ImmutableSegments& holds_;
  std::map<samplefs::SegmentId, std::uint32_t> places_{};
  std::vector<UniqueFd> files_{};
};

// Walks an index in the order of paths.
class Walk {
 public:
  Walk(const Index& index, const ViewRequest& request, ViewPlan& plan, Segments& segments,
       Random& random, std::vector<ReadBack>& samples)
      : index_(index),
        request_(request),
        plan_(plan),
        segments_(segments),
        random_(random),
        samples_(samples) {}

  Result<> run(std::stop_token stop) {
    open_.push_back({index_.children(Index::kRoot), 0, 0});
    while (!open_.empty()) {
      if (stop.stop_requested()) return Error{Code::kCancelled, "sealing was stopped"};
      Directory& top = open_.back();
      path_.resize(top.path_size);
      if (top.next == top.children.count) {
        open_.pop_back();
        continue;
      }
      const Index::Entry entry = index_.at(top.children.first + top.next++);
      if (!path_.empty()) path_ += '/';
      path_ += entry.name;
      if (!entry.directory) {
        CHECK_DONE(add_file(entry));
        continue;
      }
      // The tree refuses a path that is too deep; so the list of open directories is bounded.
      CHECK_DONE(plan_.add_directory(path_, entry.modified));
      open_.push_back({index_.children(entry.position), 0, path_.size()});
    }
    return Done{};
  }

 private:
  struct Directory {
    Index::Children children{};
    std::uint32_t next = 0;
    std::size_t path_size = 0;
  };

  Result<> add_file(const Index::Entry& entry) {
    extents_.clear();
    for (std::uint64_t at = 0; at < entry.size; at += samplefs::kBlockSize) {
      const auto extent = request_.locate(index_.block(entry, path_, at));
      if (!extent) {
        return Error{Code::kNotFound, "the cache does not have all of the samples"};
      }
      TRY(const std::uint32_t place, segments_.place_of(extent->segment));
      extents_.push_back({.segment = place,
                          .offset = extent->offset,
                          .length = extent->length,
                          .checksum = extent->checksum});
    }
    CHECK_DONE(plan_.add({.path = path_,
                          .size = entry.size,
                          .modified = entry.modified,
                          .extents = extents_,
                          .xattrs = xattrs_of(entry)}));
    keep_sample(entry);
    return Done{};
  }

  // etag, generation and source, under the names that a mount of ours gives them.
  std::span<const erofs::Xattr> xattrs_of(const Index::Entry& entry) {
    if (generation_.empty()) generation_ = std::to_string(index_.generation());
    xattr_list_ = {{{"samplefs.etag", entry.etag}, {"samplefs.generation", generation_}}};
    return xattr_list_;
  }

  // Every file has the same chance (reservoir sampling).
  void keep_sample(const Index::Entry& entry) {
    const std::uint64_t seen = plan_.files();
    const std::uint64_t slot = seen <= request_.samples ? seen - 1 : random_.below(seen);
    if (slot >= request_.samples) return;
    if (slot >= samples_.size()) samples_.emplace_back();
    samples_[slot] = {path_, entry.size, entry.modified, extents_};
  }

  const Index& index_;
  const ViewRequest& request_;
  ViewPlan& plan_;
  Segments& segments_;
  Random& random_;
  std::vector<ReadBack>& samples_;

  std::vector<Directory> open_{};
  std::string path_{};
  std::vector<SegmentExtent> extents_{};
  std::string generation_{};
  std::array<erofs::Xattr, 2> xattr_list_{};
};

Result<UniqueFd> write_image(const ViewRequest& request, const erofs::Tree& tree,
                             std::uint64_t& bytes) {
  UniqueFd image(
      ::open(request.image_directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!image) return device_error("create an image in '" + request.image_directory + "'", errno);
  TRY(bytes, erofs::write_image(
                 tree, {.bytes = request.max_image_bytes}, [&](std::string_view part) -> Result<> {
                   while (!part.empty()) {
                     const ssize_t put = ::write(image.get(), part.data(), part.size());
                     if (put < 0 && errno == EINTR) continue;
                     if (put < 0) return device_error("write an image", errno);
                     part.remove_prefix(static_cast<std::size_t>(put));
                   }
                   return Done{};
                 }));
  return image;
}

}  // namespace

Result<BuiltView> build_view(const ViewRequest& request, ImmutableSegments& holds, Random& random,
                             std::stop_token stop) {
  BuiltView view;
  ViewPlan plan({}, request.limits);
  Segments segments(request, plan, holds);
  {
    TRY(const UniqueFd file,
        open_beneath(request.index.directory, request.index.path, request.owner));
    TRY(const std::string copy, copy_of(file.get(), request.max_index_bytes));
    TRY(const auto index, Index::over(std::as_bytes(std::span(copy))));
    CHECK_DONE(index->verify());
    CHECK_DONE(Walk(*index, request, plan, segments, random, view.samples).run(stop));
    view.generation = index->generation();
    view.digest = index->digest();
    view.root_entries = index->children(Index::kRoot).count;
  }
  TRY(const auto extents, plan.take_extents());
  CHECK_DONE(check_segments(segments.descriptors(), extents, request.checksum, stop));
  TRY(view.image, write_image(request, plan.tree(), view.image_bytes));
  view.entries = plan.tree().size();
  view.files = plan.files();
  view.bytes = plan.bytes();
  view.segments = segments.take();
  return view;
}

}  // namespace paddle::sealed
