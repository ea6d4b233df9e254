// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/sources/source_health.h"

#include <vector>

#include "base/log.h"

namespace paddle::engine::samplefs {
namespace {

// It did not answer, or refuses everything.
bool is_away(const Result<>& outcome) {
  if (outcome) return false;
  switch (outcome.error().code) {
    case Code::kUnavailable:
    case Code::kDeadline:
    case Code::kUntrusted:
    case Code::kUnauthorized:
    case Code::kForbidden:
    case Code::kThrottled:
      return true;
    default:
      return false;
  }
}

}  // namespace

void SourceHealth::note(const ::paddle::samplefs::Block& block, const Result<>& outcome) {
  const bool away = is_away(outcome);
  if (!away && (!watched_.load(std::memory_order_relaxed) || outcome.is(Code::kCancelled))) return;
  Lock lock(mutex_);
  if (away) {
    suspects_.try_emplace(block.origin,
                          Suspect{.probe = {.origin = block.origin,
                                            .object = std::string(block.object),
                                            .etag = std::string(block.etag),
                                            .version_id = std::string(block.version_id),
                                            .size = block.file_size},
                                  .due = clock_.boot(),
                                  .error = {}});
  } else {
    suspects_.erase(block.origin);
  }
  watched_.store(!suspects_.empty(), std::memory_order_relaxed);
}

void SourceHealth::probe(const Call& call, const std::stop_token& stop) {
  std::vector<Probe> due;
  {
    Lock lock(mutex_);
    for (auto& [origin, suspect] : suspects_) {
      if (clock_.boot() >= suspect.due) due.push_back(suspect.probe);
    }
  }
  for (const Probe& each : due) {
    const auto outcome = call(each, {stop, clock_.boot() + kProbeLimit});
    if (outcome.is(Code::kCancelled)) return;
    Lock lock(mutex_);
    const auto found = suspects_.find(each.origin);
    if (found == suspects_.end()) continue;  // a read was answered meanwhile
    if (is_away(outcome)) {
      if (found->second.error.empty()) {
        log::warn("a source does not answer", {{"reason", outcome.error().message}});
      }
      found->second.error = outcome.error().message;
      found->second.due = clock_.boot() + kPause;
    } else {
      if (!found->second.error.empty()) log::info("a source answers again");
      suspects_.erase(found);
    }
    watched_.store(!suspects_.empty(), std::memory_order_relaxed);
  }
}

std::string SourceHealth::trouble() const {
  Lock lock(mutex_);
  std::string text;
  for (const auto& [origin, suspect] : suspects_) {
    if (!suspect.error.empty()) text += (text.empty() ? "" : "; ") + suspect.error;
  }
  return text;
}

}  // namespace paddle::engine::samplefs
