// SPDX-License-Identifier: Apache-2.0
#include "api/job_kinds.h"

namespace paddle::api {

std::string to_string(JobKind kind) { return info_of(kind).name; }

Result<JobKind> parse_job_kind(const std::string& text) {
  std::string known;
  for (const JobKind kind : kJobKinds) {
    if (text == info_of(kind).name) return kind;
    known += (known.empty() ? "" : ", ") + to_string(kind);
  }
  return Error{Code::kInvalid, "one of " + known};
}

}  // namespace paddle::api
