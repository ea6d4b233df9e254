// SPDX-License-Identifier: Apache-2.0
//
// Verification: reads what the store has of files, several at once, and finds blocks that are
// missing and bytes that are not those of the indexed version.
//
// Every block is compared with the checksum that was taken when it was stored. A file whose ETag
// may be an MD5 is also compared with that. Where the two disagree, the bytes of the source decide:
// there are servers whose ETags only look like MD5s. A file whose object is of another version now
// cannot be decided like this; it counts as corrupt only if another ETag of its source was an MD5.
//
// A corrupt block is dropped, so that it is not served. `repair` downloads what is missing or was
// dropped and checks the file once more.
//
// Blocks in memory count in the ReadThrough's budget. While readers wait for the source, one worker
// continues. Call run() once per Verifier; progress() is thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/sync.h"
#include "samplefs/index.h"
#include "samplefs/read_through.h"
#include "samplefs/store/store.h"

namespace paddle::samplefs {

struct VerifyOptions {
  int workers = 4;
  int workers_beside_readers = 1;
  bool repair = false;
};

struct VerifyFinding {
  Index::Position position = 0;
  bool repaired = false;
  bool operator==(const VerifyFinding&) const = default;
};

struct VerifyProgress {
  static constexpr std::size_t kMostNamed = 20;

  std::uint64_t files_total = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t files_done = 0;
  std::uint64_t bytes_done = 0;
  std::uint64_t checked = 0;   // without files of which nothing is cached, nor expected
  std::uint64_t compared = 0;  // of these, with a digest of the source, or with its bytes
  std::uint64_t missing = 0;
  std::uint64_t corrupt = 0;
  std::uint64_t repaired = 0;
  std::uint64_t failed = 0;   // could not be read or repaired; first_error has the first reason
  std::uint64_t no_room = 0;  // not repaired for want of room
  std::string first_error{};
  // The first few in the order in which they were found.
  std::vector<VerifyFinding> first_missing{};
  std::vector<VerifyFinding> first_corrupt{};
};

// Files of one index, and which of them this node is expected to have. Of the others only what is
// cached is checked.
struct VerifyFiles {
  std::shared_ptr<const Index> index{};
  std::vector<Index::Position> files{};
  std::vector<bool> expected{};  // by position; as long as the index
};

class Verifier {
 public:
  Verifier(VerifyFiles files, Store& store, Sources& sources, ReadThrough& data,
           VerifyOptions options = {});

  // Blocks until all files are done or `stop` is requested (kCancelled; progress() stays valid).
  Result<> run(std::stop_token stop);
  VerifyProgress progress() const EXCLUDES(mutex_);

 private:
  enum class EtagIs { kUnknown, kMd5, kNoMd5 };  // of an origin
  // What is known of the cached bytes of one file.
  struct Examined {
    bool stopped = false;
    bool absent = false;  // in part
    bool cached = false;  // in part
    bool corrupt = false;
    bool compared = false;
    std::string error{};
  };
  enum class Repair { kStopped, kDone, kNoRoom, kFailed };

  void work(int number, const std::stop_token& stop);
  // False: stopped.
  bool verify(Index::Position position, const std::stop_token& stop) EXCLUDES(mutex_);
  Examined examine(const Index::Entry& entry, const std::string& path, const std::stop_token& stop)
      EXCLUDES(mutex_);
  // Sets `corrupt` or `compared` of a file whose MD5 is not what its ETag says.
  void decide_by_source(const Index::Entry& entry, const std::string& path,
                        const std::stop_token& stop, Examined& file) EXCLUDES(mutex_);
  Result<bool> is_like_source(const Index::Entry& entry, const std::string& path,
                              const std::stop_token& stop);
  Repair repair(const Index::Entry& entry, const std::string& path, const std::stop_token& stop,
                std::string& error) EXCLUDES(mutex_);
  void drop(const Index::Entry& entry, const std::string& path);
  EtagIs etag_is(std::uint32_t origin) const EXCLUDES(mutex_);
  void learn(std::uint32_t origin, EtagIs what) EXCLUDES(mutex_);

  const VerifyFiles files_;
  Store& store_;
  Sources& sources_;
  ReadThrough& data_;
  const VerifyOptions options_;
  std::uint64_t bytes_total_ = 0;  // constant after construction

  std::atomic<std::size_t> next_ = 0;
  mutable Mutex mutex_;  // not held while anything is read
  VerifyProgress counted_ GUARDED_BY(mutex_);
  std::vector<EtagIs> etags_ GUARDED_BY(mutex_);  // by origin
};

}  // namespace paddle::samplefs
