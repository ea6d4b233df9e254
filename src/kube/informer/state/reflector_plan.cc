// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/reflector_plan.h"

#include <algorithm>

#include "base/backoff.h"

namespace paddle::kube {
namespace {

using Kind = ReflectorStep::Kind;
using std::chrono::nanoseconds;

constexpr nanoseconds kShortestGoodWatch = std::chrono::seconds(1);

// The version that we have is still valid: the failure is temporary, or between us and the server.
bool can_resume(Code code) {
  return code == Code::kUnavailable || code == Code::kUntrusted || code == Code::kDeadline ||
         code == Code::kThrottled || code == Code::kInternal;
}

}  // namespace

ReflectorStep ReflectorPlan::first() { return list_after(nanoseconds::zero(), Read::kFromCache); }

ReflectorStep ReflectorPlan::after_list(const Result<std::string>& version) {
  if (version) {
    seen_ = *version;
    return watch_after(nanoseconds::zero(), *version);
  }
  if (version.is(Code::kCancelled)) return {.kind = Kind::kStop};
  Read read = last_read_;
  if (version.is(Code::kExpired)) {
    read = last_read_ == Read::kFromCache ? Read::kInPages : Read::kInOnePiece;
  } else if (last_read_ == Read::kInOnePiece) {
    read = Read::kInPages;
  }
  return list_after(next_pause(version.error()), read);
}

ReflectorStep ReflectorPlan::after_watch(const WatchOutcome& outcome) {
  if (outcome.error && outcome.error->code == Code::kCancelled) return {.kind = Kind::kStop};
  seen_ = outcome.version;
  const bool progress = outcome.events > 0 || outcome.lasted >= kShortestGoodWatch;
  if (progress) failures_ = 0;
  if (!outcome.error) {
    if (progress) return watch_after(nanoseconds::zero(), outcome.version);
    return watch_after(next_pause({Code::kUnavailable, "the watch ended immediately"}),
                       outcome.version);
  }
  if (outcome.error->code == Code::kExpired && failures_ == 0) {
    ++failures_;
    return list_after(nanoseconds::zero(), Read::kFromCache);
  }
  const nanoseconds pause = next_pause(*outcome.error);
  if (can_resume(outcome.error->code)) return watch_after(pause, outcome.version);
  return list_after(pause, Read::kFromCache);
}

// The server ignores the page size when it serves version "0" from its cache; it keeps the response
// small where there is no cache. With another version a page size would bypass the cache.
ReflectorStep ReflectorPlan::list_after(nanoseconds pause, Read read) {
  last_read_ = read;
  const bool from_cache = read == Read::kFromCache;
  const bool in_pages = read == Read::kInPages || (from_cache && seen_ == "0");
  return {.kind = Kind::kList,
          .pause = pause,
          .page_size = in_pages ? pace_.page_size : 0,
          .version = from_cache ? seen_ : std::string()};
}

ReflectorStep ReflectorPlan::watch_after(nanoseconds pause, const std::string& version) {
  const auto spread =
      static_cast<std::uint64_t>((pace_.longest_watch - pace_.shortest_watch).count()) + 1;
  const auto extra = static_cast<std::chrono::seconds::rep>(random_.below(spread));
  return {.kind = Kind::kWatch,
          .pause = pause,
          .version = version,
          .timeout = pace_.shortest_watch + std::chrono::seconds(extra)};
}

nanoseconds ReflectorPlan::next_pause(const Error& error) {
  const bool unknown = error.code == Code::kNotFound;
  const nanoseconds longest =
      unknown ? std::min(pace_.longest_unknown, pace_.longest_pause) : pace_.longest_pause;
  const nanoseconds pause = backoff(pace_.first_pause, ++failures_, longest);
  const double jitter = 0.5 + random_.uniform();
  const nanoseconds jittered(
      static_cast<nanoseconds::rep>(static_cast<double>(pause.count()) * jitter));
  return std::max<nanoseconds>(jittered, error.retry_after.value_or(std::chrono::milliseconds(0)));
}

}  // namespace paddle::kube
