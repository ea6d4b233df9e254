// SPDX-License-Identifier: Apache-2.0
//
// A source in memory: the reference implementation, used by tests.

#pragma once

#include <map>

#include "base/sync.h"
#include "source/source.h"

namespace paddle::source {

class MemorySource final : public Source {
 public:
  // Every put() makes a new version, also with the same bytes.
  void put(const std::string& path, std::string bytes) EXCLUDES(mutex_);
  void remove(const std::string& path) EXCLUDES(mutex_);

  std::uint64_t reads() const EXCLUDES(mutex_);
  std::uint64_t bytes_read() const EXCLUDES(mutex_);

  Result<Listed> list(const ObjectSink& sink, std::stop_token stop) override EXCLUDES(mutex_);
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const CallContext& context) override EXCLUDES(mutex_);

 private:
  struct Version {
    std::string bytes{};
    std::string etag{};
    WallTime modified{};
  };

  mutable Mutex mutex_;
  std::map<std::string, Version, std::less<>> objects_ GUARDED_BY(mutex_);
  std::uint64_t versions_ GUARDED_BY(mutex_) = 0;
  std::uint64_t reads_ GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_read_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::source
