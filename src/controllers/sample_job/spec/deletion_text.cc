// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/deletion_text.h"

#include <algorithm>

#include "controllers/sample_job/spec/job_type.h"

namespace paddle::controllers::sample_job {
namespace {

constexpr std::size_t kNamedPaths = 3;
constexpr std::size_t kLongestName = 100;

std::string names_of(const std::vector<std::string>& paths) {
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), kNamedPaths); ++i) {
    text += (i == 0 ? "'" : ", '") + paths[i].substr(0, kLongestName) + "'";
  }
  if (paths.size() > kNamedPaths) {
    text += " and " + std::to_string(paths.size() - kNamedPaths) + " more";
  }
  return text;
}

std::string what_of(const api::SampleJobSpec& spec) {
  const auto& kind = job_type(spec.type).kind;
  if (kind == runtime::JobKind::kRemove && spec.rmr) {
    return "rmr removes " + names_of(spec.rmr->paths);
  }
  if (kind != runtime::JobKind::kSync || !spec.sync || spec.sync->dry) return "";
  if (spec.sync->delete_src) return "delete-src deletes at the source what has been copied";
  if (spec.sync->delete_dst) return "delete-dst deletes in the set what the source lacks";
  return "";
}

}  // namespace

std::string deletion_text(const api::SampleJob& job) {
  const std::string what = what_of(job.spec);
  if (what.empty()) return "";
  const std::string user = api::annotation(job.meta, kRequestedBy).substr(0, kLongestName);
  if (!user.empty()) return what + "; requested by '" + user + "'";
  return what + "; requested by an unknown user: the job has no annotation " + kRequestedBy;
}

}  // namespace paddle::controllers::sample_job
