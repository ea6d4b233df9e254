// SPDX-License-Identifier: Apache-2.0
//
// What a reflector does next, as a function of how its last step ended. No thread, no clock: the
// caller measures, sleeps and calls the server.
//
//   list succeeded             watch from the list's version
//   list failed                list again after a pause
//   watch ended by the server  watch again immediately from the last version seen
//   connection broke, 429, 5xx watch again from the last version seen, after a pause
//   version expired (410)      list again; immediately the first time, then after pauses
//   anything else              list again after a pause
//
// Lists are read from the API server's cache, so that thousands of objects and many informers cost
// etcd nothing: the first one at any version, later ones not older than what has been seen. When
// the server cannot serve that version (410, or its cache is behind), the list is read from etcd in
// pages, and when its pages expire, in one piece. The first list may therefore show an older state,
// which the watch from its version brings up to date; nothing goes back in time afterwards.
//
// Pauses double from `first_pause` to `longest_pause`, with a jitter of half their length in both
// directions so that many clients do not return at once, and are reset when a watch makes progress.
// A longer pause that the server requests is kept. When the server does not know the resource (its
// definition is not applied yet), it is tried again every few seconds. A watch that ends normally
// but shows nothing and lasts less than a second counts as broken, so that no server can cause a
// busy loop.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"

namespace paddle::kube {

struct ReflectorPace {
  std::chrono::milliseconds first_pause{100};
  std::chrono::milliseconds longest_pause{30'000};
  std::chrono::milliseconds longest_unknown{5'000};  // while the server does not know the resource
  // A watch is renewed after a random time in between, so that renewals spread out.
  std::chrono::seconds shortest_watch{300};
  std::chrono::seconds longest_watch{600};
  int page_size = 500;
};

struct ReflectorStep {
  enum class Kind { kList, kWatch, kStop };
  Kind kind = Kind::kList;
  std::chrono::nanoseconds pause{0};  // before the step
  int page_size = 0;                  // kList
  // kWatch: where to start. kList: not older than this; "0": any; empty: the most recent.
  std::string version{};
  std::chrono::seconds timeout{0};  // kWatch: when the server is to end it
};

struct WatchOutcome {
  std::string version{};  // the last one seen, also when nothing came
  size_t events = 0;      // bookmarks included
  std::chrono::nanoseconds lasted{0};
  std::optional<Error> error{};  // none: the server ended it
};

class ReflectorPlan {
 public:
  ReflectorPlan(const ReflectorPace& pace, Random& random) : pace_(pace), random_(random) {}

  ReflectorStep first();
  ReflectorStep after_list(const Result<std::string>& version);
  ReflectorStep after_watch(const WatchOutcome& outcome);

 private:
  // How the next list is read.
  enum class Read { kFromCache, kInPages, kInOnePiece };
  ReflectorStep list_after(std::chrono::nanoseconds pause, Read read);
  ReflectorStep watch_after(std::chrono::nanoseconds pause, const std::string& version);
  std::chrono::nanoseconds next_pause(const Error& error);

  const ReflectorPace pace_;
  Random& random_;
  int failures_ = 0;        // in a row, without progress of a watch in between
  std::string seen_ = "0";  // the last version of a list or watch
  Read last_read_ = Read::kFromCache;
};

}  // namespace paddle::kube
