// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/execute/orphaned_jobs.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {

namespace kinds = kube::resources;

constexpr std::chrono::seconds kCheckAgain{30};

Result<ReconcileResult> OrphanedJobs::cancel(const api::ObjectKey& key, const kube::Call& call) {
  const auto set = observer_.find_set(key);
  if (!set || set->meta.deleting()) return ReconcileResult{};
  const auto request = observer_.pending_orphan_check(key);
  if (!request) return ReconcileResult{};
  TRY(const auto credentials, observer_.credentials(*set, call));
  if (!credentials) return ReconcileResult{};
  std::optional<std::vector<std::string>> wanted;
  const auto runtimes = observer_.all_jobs(*set, *credentials);
  bool complete = static_cast<int>(runtimes.size()) >= set->spec.effective_partitions();
  for (const auto& [endpoint, known] : runtimes) {
    complete = complete && known && *known;
    if (!known || !*known) continue;
    for (const runtime::JobReport& job : **known) {
      if (!job.id.starts_with(kJobIdPrefix)) continue;
      if (runtime::ended(job.state)) {
        // The runtime was polled again before this pass, perhaps before the outcome is known.
        if (observer_.is_cancelling(*set, endpoint, job.id)) {
          complete = false;
        } else if (observer_.was_cancelled(*set, endpoint, job.id)) {
          report(*set, endpoint, job);
        }
        continue;
      }
      if (!wanted) {
        TRY(wanted, id_prefixes(key.ns, call));
      }
      const bool has_owner = std::ranges::any_of(
          *wanted, [&](const std::string& prefix) { return job.id.starts_with(prefix); });
      if (has_owner) continue;
      auto cancelled = observer_.cancel_orphan(*set, endpoint, *credentials, job.id);
      if (!cancelled) {  // not yet
        complete = false;
        continue;
      }
      if (!*cancelled) return std::move(*cancelled).error().in("cancel orphaned job " + job.id);
      report(*set, endpoint, job);
    }
  }
  if (!complete) return ReconcileResult{.requeue_after = kCheckAgain};
  observer_.orphan_check_done(key, *request);
  return ReconcileResult{};
}

void OrphanedJobs::report(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                          const runtime::JobReport& job) {
  log::info("cancelled an orphaned job", {{"id", job.id}, {"set", to_string(set.meta.key)}});
  writer_.emit(kinds::kSampleSets, set.meta,
               {false, event_reason::kCancelJobSuccessfully,
                "cancelled " + to_string(job.kind) + " " + job.id + " at partition " +
                    std::to_string(endpoint.partition) + ": its samplejob was deleted"});
}

// From the API server: the informer may not have a new job yet.
Result<std::vector<std::string>> OrphanedJobs::id_prefixes(const std::string& ns,
                                                           const kube::Call& call) {
  std::vector<std::string> found;
  CHECK_DONE(cluster_.list(
      kinds::kSampleJobs, {.ns = ns},
      [&](std::string_view text) -> Result<> {
        TRY(const api::Json object, api::parse_json(std::string(text)));
        TRY(const api::Meta meta, api::decode_meta(object));
        found.push_back(id_prefix(meta));
        return Done{};
      },
      call));
  return found;
}

}  // namespace paddle::controllers::sample_job
