// SPDX-License-Identifier: Apache-2.0
//
// Parses query parameters, content types and option bodies of write requests. Pure; kInvalid for
// values that a real server rejects.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "local/api_server/api.h"
#include "local/api_server/target.h"
#include "local/api_server/writer.h"

namespace paddle::local {

Result<WriteOptions> read_write_options(const Target& target);

struct DeleteRequest {
  kube::DeleteOptions options{};
  bool dry_run = false;
};
// The body, a DeleteOptions object, may be empty; it overrides the query parameters.
Result<DeleteRequest> read_delete_options(const Target& target, const std::string& body);

Result<LogRequest> read_log_request(const api::ObjectKey& pod, const Target& target);

bool is_json(std::string_view content_type);  // an empty one counts as JSON
std::optional<PatchStyle> read_patch_style(std::string_view content_type);

}  // namespace paddle::local
