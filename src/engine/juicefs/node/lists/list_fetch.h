// SPDX-License-Identifier: Apache-2.0
//
// The first partition's runtime makes the lists of a warm-up, and the others ask it. One that asks
// gets an answer soon or makes its list itself: the same files dealt out by the same rule are the
// same list, and nothing else on its node is warmed up while it waits.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::engine::juicefs {

// Asks the runtime at an address for a list (NodeEngine::list_for there).
using ListFetcher =
    std::function<Result<std::string>(const std::string& address, const std::string& job,
                                      std::int32_t partition, std::stop_token stop)>;

struct ListRequest {
  std::string address{};  // host:port of the first runtime
  std::string job{};
  std::int32_t partition = 0;
};

// Nothing: there will be none (kExpired: it is through with that job), or not in time: for a minute
// it had not come to it or could not be asked, for five seconds it had not heard of it (kNotFound).
// kCancelled: stopped.
Result<std::optional<std::string>> fetch_list(const ListFetcher& fetch, const ListRequest& request,
                                              const Clock& clock, std::stop_token stop);

}  // namespace paddle::engine::juicefs
