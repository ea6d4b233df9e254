// SPDX-License-Identifier: Apache-2.0
#include "api/paddle_job.h"

#include <algorithm>

#include "api/paddle_job_fields.h"
#include "api/schema/object_codec.h"

namespace paddle::api {

Result<PaddleJob> decode_paddle_job(const Json& object) {
  return codec::read_object<PaddleJob>(object);
}
Json encode(const PaddleJob& job) { return codec::write_object(job); }
Json encode(const PaddleJobStatus& status) { return codec::write(status); }

std::string task_type(const std::string& name) {
  std::string type = name.substr(0, name.find('-'));
  for (char& c : type) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return type;
}

namespace {

const std::string& written_clean_policy(const PaddleJobSpec& spec) {
  return spec.clean_pod_policy.empty() ? spec.clean_policy : spec.clean_pod_policy;
}

}  // namespace

CleanPolicy effective_clean_policy(const PaddleJobSpec& spec) {
  const std::string& text = written_clean_policy(spec);
  if (text.empty() || text == "OnCompletion") return CleanPolicy::kOnCompletion;
  if (text == "Always") return CleanPolicy::kAlways;
  if (text == "OnFailure") return CleanPolicy::kOnFailure;
  return CleanPolicy::kNever;
}

std::vector<std::string> warnings(const PaddleJob& job) {
  std::vector<std::string> found;
  const PaddleJobSpec& spec = job.spec;
  if (written_clean_policy(spec) == "OnFailed") {
    found.push_back("cleanPodPolicy OnFailed acts as Never; did you mean OnFailure?");
  }
  if (written_clean_policy(spec) == "Nerver") {
    found.push_back("cleanPodPolicy Nerver acts as Never; write Never instead");
  }
  const bool serves =
      spec.ps || std::ranges::any_of(spec.tasks, [&](const Task& task) {
        return (spec.mode.empty() || spec.mode == "PS") && task_type(task.name) == "PS";
      });
  if (spec.with_gloo.value_or(0) > 0 && !serves) {
    found.push_back("withGloo has no effect without a ps role");
  }
  if (spec.tasks.empty() && !spec.mode.empty()) {
    found.push_back("mode applies only to tasks; with ps, worker and heter the roles determine it");
  }
  if (spec.tasks.empty() && spec.start_in_order) {
    found.push_back(
        "startInOrder applies only to tasks; ps, worker and heter always start in this order");
  }
  return found;
}

}  // namespace paddle::api
