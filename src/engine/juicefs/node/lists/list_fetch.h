// SPDX-License-Identifier: Apache-2.0
//
// Fetches the list of a warm-up's part from the first partition's runtime, which makes all of them.
// The wait is bounded (time_limits.h), because nothing else is warmed up on this node meanwhile. A
// runtime without a list makes its own: the same files divided by the same rule give the same list.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::engine::juicefs {

// Calls NodeEngine::list_for() of the runtime at an address.
using ListFetcher =
    std::function<Result<std::string>(const std::string& address, const std::string& job,
                                      std::int32_t partition, std::stop_token stop)>;

struct ListRequest {
  std::string address{};  // host:port of the first runtime
  std::string job{};
  std::int32_t partition = 0;
};

// The list, or nothing when the runtime has none any more (kExpired), did not provide it within
// kListGiveUp, or did not know the job (kNotFound) for kListUnknownGiveUp. kCancelled: stopped.
Result<std::optional<std::string>> fetch_list(const ListFetcher& fetch, const ListRequest& request,
                                              const Clock& clock, std::stop_token stop);

}  // namespace paddle::engine::juicefs
