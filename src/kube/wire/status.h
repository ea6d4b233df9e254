// SPDX-License-Identifier: Apache-2.0
//
// Translates the API server's error responses (metav1.Status) into our Error; the table is in
// kube/cluster.h. Pure.

#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

// A response that is not 2xx. `body` is a Status, or any text of a proxy, whose beginning is
// quoted. `retry_after` is the header of that name.
Error error_of_answer(int http_status, std::string_view body,
                      std::optional<std::chrono::milliseconds> retry_after = {});

// A Status object within a 200: an ERROR event of a watch, or in place of a list.
Error error_of_status(const api::Json& status);

}  // namespace paddle::kube
