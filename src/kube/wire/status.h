// SPDX-License-Identifier: Apache-2.0
//
// The API server's way to say no (metav1.Status), translated once into our Error; the table is in
// kube/cluster.h. Pure.

#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

// An answer that is not 2xx. `body` is a Status, or whatever a proxy on the way had to say: then
// its beginning is quoted. `retry_after` is the header of that name.
Error error_of_answer(int http_status, std::string_view body,
                      std::optional<std::chrono::milliseconds> retry_after = {});

// A Status object that came inside a 200: an ERROR event of a watch, or instead of a list.
Error error_of_status(const api::Json& status);

}  // namespace paddle::kube
