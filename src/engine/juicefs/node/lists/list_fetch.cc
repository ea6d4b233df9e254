// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/list_fetch.h"

#include "base/backoff.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {

Result<std::optional<std::string>> fetch_list(const ListFetcher& fetch, const ListRequest& request,
                                              const Clock& clock, std::stop_token stop) {
  const BootTime began = clock.boot();
  BootTime last_known = began;
  for (int attempt = 1;; ++attempt) {
    auto list = fetch(request.address, request.job, request.partition, stop);
    if (list) return std::optional(*std::move(list));
    if (list.is(Code::kCancelled)) return std::move(list).error();
    if (list.is(Code::kExpired)) return std::optional<std::string>{};
    const BootTime now = clock.boot();
    if (!list.is(Code::kNotFound)) last_known = now;
    if (now - began >= kListGiveUp || now - last_known >= kListUnknownGiveUp) {
      return std::optional<std::string>{};
    }
    if (!clock.sleep(backoff(kListFirstPause, attempt, kListLongestPause), stop)) {
      return Error{Code::kCancelled, "stopped"};
    }
  }
}

}  // namespace paddle::engine::juicefs
