// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/job_ids.h"

#include <charconv>
#include <cstring>

#include "base/backoff.h"
#include "controllers/sample_set/config.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr const char* kRound = "-v";
constexpr const char* kLoss = "-l";
constexpr const char* kFailure = "-r";
constexpr const char* kPartFailure = ".r";

// "x-r3" is {"x", 3}, and "x" is {"x", 0}.
struct Counted {
  std::string base{};
  int number = 0;
};
Counted counted(const std::string& id, const char* mark) {
  const auto at = id.rfind(mark);
  if (at == id.npos) return {id, 0};
  int number = 0;
  const char* const end = id.data() + id.size();
  const auto [stopped, error] = std::from_chars(id.data() + at + std::strlen(mark), end, number);
  if (error != std::errc{} || stopped != end) return {id, 0};
  return {id.substr(0, at), number};
}

std::string increment(const std::string& id, const char* mark) {
  const Counted previous = counted(id, mark);
  return previous.base + mark + std::to_string(previous.number + 1);
}

// Before a job is retried that has failed this often and then once more.
std::chrono::seconds delay_after(int failures) {
  return std::chrono::duration_cast<std::chrono::seconds>(
      backoff(kFirstRetry, failures + 1, kLongestJobRetry));
}

std::string uid8(const api::SampleSet& set) { return set.meta.uid.substr(0, 8); }

}  // namespace

std::string next_sync_id(const api::SampleSet& set, const std::string& previous) {
  const int attempt = previous.empty() ? 0 : attempt_of(previous) + 1;
  return "sync-" + uid8(set) + "-" + std::to_string(attempt);
}

std::string division_id(const std::string& part) { return counted(part, kPartFailure).base; }

std::string retry_part_id(const std::string& part) { return increment(part, kPartFailure); }

std::chrono::seconds part_retry_delay(const std::string& part) {
  return delay_after(counted(part, kPartFailure).number);
}

std::string warm_up_id(const api::SampleSet& set, std::int64_t generation,
                       const std::string& previous) {
  std::string wanted = "warmup-" + uid8(set) + "-" + std::to_string(generation) + "-" +
                       std::to_string(set.spec.effective_partitions());
  if (previous.empty()) return wanted;
  const Counted round = counted(warm_up_round(previous), kRound);
  if (round.base == wanted) return previous;
  return wanted + kRound + std::to_string(round.number + 1);
}

std::string warm_up_after_loss(const std::string& warm_up) {
  return increment(counted(warm_up, kFailure).base, kLoss);
}

std::string warm_up_after_failure(const std::string& warm_up) {
  return increment(warm_up, kFailure);
}

std::string warm_up_round(const std::string& warm_up) {
  return counted(counted(warm_up, kFailure).base, kLoss).base;
}

int attempt_of(const std::string& id) {
  return counted(id, id.starts_with("sync-") ? "-" : kFailure).number;
}

std::chrono::seconds retry_delay(const std::string& id) { return delay_after(attempt_of(id)); }

}  // namespace paddle::controllers::sample_set
