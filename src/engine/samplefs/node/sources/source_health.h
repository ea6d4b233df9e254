// SPDX-License-Identifier: Apache-2.0
//
// Whether the sources of a set answer. A source is suspected when a read of it fails as if it were
// away, and down when a probe fails too: one byte of what could not be read. It is up again with
// the first read or probe that it answers, whatever the answer is. So one lost request is nothing
// to report, and a source that is read no more is not reported for ever.
//
// Thread-safe.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/sync.h"
#include "samplefs/block.h"
#include "source/call_context.h"

namespace paddle::engine::samplefs {

class SourceHealth {
 public:
  static constexpr std::chrono::seconds kPause{5};       // between probes of a source
  static constexpr std::chrono::seconds kProbeLimit{5};  // of one probe

  // What could not be read.
  struct Probe {
    ::paddle::samplefs::OriginId origin = 0;
    std::string object{};
    std::string etag{};
    std::string version_id{};
    std::uint64_t size = 0;
  };
  using Call = std::function<Result<>(const Probe&, const source::CallContext&)>;

  explicit SourceHealth(const Clock& clock = system_clock()) : clock_(clock) {}

  // A read has ended.
  void note(const ::paddle::samplefs::Block& block, const Result<>& outcome) EXCLUDES(mutex_);
  // Calls those that are suspected or down, if it is time.
  void probe(const Call& call, const std::stop_token& stop) EXCLUDES(mutex_);
  // Sentences about the sources that are down; empty: none is.
  std::string trouble() const EXCLUDES(mutex_);

 private:
  struct Suspect {
    Probe probe{};
    BootTime due{};
    std::string error{};  // of the last probe; empty: none yet
  };

  const Clock& clock_;
  std::atomic<bool> watched_ = false;  // any suspects: most reads find none
  mutable Mutex mutex_;
  std::map<::paddle::samplefs::OriginId, Suspect> suspects_ GUARDED_BY(mutex_);
};

}  // namespace paddle::engine::samplefs
