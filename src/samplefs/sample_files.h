// SPDX-License-Identifier: Apache-2.0
//
// The file system of a sample set: an index holds the names, a ReadThrough reads the data. Lookup,
// stat, read_directory and read_local never access the network.
//
// switch_to() publishes a new generation. Names are looked up in it from then on; ids of the
// previous generations stay readable, because open files and cached pages refer to them. A
// generation with the same content as its predecessor replaces it.
//
// Xattrs, of which a sealed view has those without the source and the tier:
//
//   user.samplefs.etag         of a file: that of its version at the source
//   user.samplefs.generation   the latest generation that has the node
//   user.samplefs.source       of a file: the URI of its source
//   user.samplefs.tier         of a file: the tiers of the cache that hold it, from "1" on, and
//                              "source" when a part is in none: "1", "source", "1,2,source"
//
// Thread-safe. The ReadThrough must outlive it. Destruction ends downloads in progress: their
// readers get kCancelled.

#pragma once

#include <deque>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/sync.h"
#include "samplefs/file_system.h"
#include "samplefs/index.h"
#include "samplefs/read_ahead.h"
#include "samplefs/read_through.h"

namespace paddle::samplefs {

class SampleFiles final : public FileSystem {
 public:
  static constexpr std::size_t kGenerations = 32;

  // `own_source`: the URI of the set's own source, which an index does not have.
  SampleFiles(std::shared_ptr<const Index> index, ReadThrough& data, std::string own_source = {});
  ~SampleFiles() override;

  void switch_to(std::shared_ptr<const Index> index) EXCLUDES(mutex_);
  std::shared_ptr<const Index> current() const EXCLUDES(mutex_);
  // The generations in which ids are looked up, the latest last.
  std::vector<std::shared_ptr<const Index>> generations() const EXCLUDES(mutex_);
  void stop() { stop_.request_stop(); }  // current and later reads end with kCancelled

  Result<Attr> lookup(NodeId parent, std::string_view name) override;
  Result<Attr> stat(NodeId node) override;
  Result<> read_directory(NodeId node, std::uint64_t start, const EntrySink& sink) override;
  Result<std::size_t> read(NodeId node, std::uint64_t offset, std::span<std::byte> into,
                           BootTime until) override;
  Result<std::optional<std::size_t>> read_local(NodeId node, std::uint64_t offset,
                                                std::span<std::byte> into) override;
  Result<std::vector<Xattr>> xattrs(NodeId node) override;
  FsTotals totals() const override;

 private:
  struct Place {
    std::shared_ptr<const Index> index{};
    Index::Position position = 0;
  };
  // A range of a file, cut at its end.
  struct Range {
    Place place{};
    Index::Entry entry{};
    std::string path{};
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  struct Ahead {
    Place place{};
    std::uint64_t offset = 0;
  };

  // Positive as the signed offsets of readdir(3), with room for the caller's own.
  static constexpr unsigned kCookieShift = 33;
  static constexpr std::uint64_t kCookiePositions = (std::uint64_t{1} << kCookieShift) - 1;
  static constexpr std::uint64_t kCookieGenerations = (std::uint64_t{1} << 29) - 1;

  Result<Place> find(NodeId node) const EXCLUDES(mutex_);
  // The generation of a cookie; null if it is gone.
  std::shared_ptr<const Index> listed_in(std::uint64_t generation) const EXCLUDES(mutex_);
  // kInternal when the index is damaged where the answer would be, otherwise kNotFound.
  static Error missing(const Index& index, const char* what);
  Result<Range> range_of(NodeId node, std::uint64_t offset, std::size_t wanted) const;
  // Calls `read_part` for each block of the range, until it returns false.
  template <typename ReadPart>
  static Result<bool> for_each_part(const Range& range, std::span<std::byte> into,
                                    const ReadPart& read_part);
  std::string tiers_of(const Place& place, const Index::Entry& entry,
                       const std::string& path) const;
  void plan_ahead(const Range& range) EXCLUDES(ahead_mutex_);
  void read_ahead(const std::stop_token& stop) EXCLUDES(ahead_mutex_);

  ReadThrough& data_;
  const std::string own_source_;
  std::stop_source stop_{};

  using Generations = std::vector<std::shared_ptr<const Index>>;  // the latest last
  std::shared_ptr<const Generations> known() const EXCLUDES(mutex_);

  mutable Mutex mutex_;  // never held while an index is read: its pages may have to come from disk
  std::shared_ptr<const Generations> generations_ GUARDED_BY(mutex_);

  Mutex ahead_mutex_;
  CondVar ahead_wake_;
  ReadAhead ahead_ GUARDED_BY(ahead_mutex_);
  std::deque<Ahead> ahead_queue_ GUARDED_BY(ahead_mutex_);
  std::vector<std::jthread> threads_;  // last: they use the rest
};

}  // namespace paddle::samplefs
