// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/list_fetch.h"

#include <algorithm>

namespace paddle::engine::juicefs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{1'000};
constexpr milliseconds kLongestWait{60'000};
constexpr milliseconds kUnknown{5'000};  // both are told of a job at about the same time

}  // namespace

Result<std::optional<std::string>> fetch_list(const ListFetcher& fetch, const ListRequest& request,
                                              const Clock& clock, std::stop_token stop) {
  const BootTime began = clock.boot();
  BootTime last_known = began;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    auto list = fetch(request.address, request.job, request.partition, stop);
    if (list) return std::optional(*std::move(list));
    if (list.is(Code::kCancelled)) return std::move(list).error();
    if (list.is(Code::kExpired)) return std::optional<std::string>{};
    const BootTime now = clock.boot();
    if (!list.is(Code::kNotFound)) last_known = now;
    if (now - began >= kLongestWait || now - last_known >= kUnknown) {
      return std::optional<std::string>{};
    }
    if (!clock.sleep(pause, stop)) return Error{Code::kCancelled, "stopped"};
  }
}

}  // namespace paddle::engine::juicefs
