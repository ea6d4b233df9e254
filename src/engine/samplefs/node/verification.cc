// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/verification.h"

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/samplefs/node/stale_files.h"
#include "source/left_out.h"

namespace paddle::engine::samplefs {
namespace {

namespace data = ::paddle::samplefs;
using data::Index;

constexpr std::chrono::milliseconds kFindingsInterval{250};

std::int64_t count_of(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

// The first problems of a report, each file once.
class FirstProblems {
 public:
  explicit FirstProblems(const Index& index) : index_(index) {}
  void add(Index::Position position, const char* problem, bool repaired) {
    if (problems_.size() >= api::Verification::kMostNamed) return;
    if (!named_.insert(position).second) return;
    problems_.push_back({.path = source::shown_path(index_.path_of(position)),
                         .problem = problem,
                         .repaired = repaired});
  }
  void add(std::vector<data::VerifyFinding> found, const char* problem) {
    std::ranges::sort(found, {}, &data::VerifyFinding::position);
    for (const auto& each : found) add(each.position, problem, each.repaired);
  }
  std::vector<api::FoundProblem> take() { return std::move(problems_); }

 private:
  const Index& index_;
  std::set<Index::Position> named_{};
  std::vector<api::FoundProblem> problems_{};
};

Progress progress_of(const data::VerifyProgress& verify, const std::vector<Index::Position>& stale,
                     const Index& index) {
  FirstProblems problems(index);
  problems.add(verify.first_corrupt, api::sample_problem::kCorrupt);
  for (std::size_t i = 0; i < std::min(stale.size(), api::Verification::kMostNamed); ++i) {
    problems.add(stale[i], api::sample_problem::kStale, false);
  }
  problems.add(verify.first_missing, api::sample_problem::kMissing);
  return {.files_total = count_of(verify.files_total),
          .files_done = count_of(verify.files_done),
          .files_failed = count_of(verify.failed),
          .files_no_room = count_of(verify.no_room),
          .bytes_total = count_of(verify.bytes_total),
          .bytes_done = count_of(verify.bytes_done),
          .verification = api::Verification{.checked = count_of(verify.checked),
                                            .compared = count_of(verify.compared),
                                            .missing = count_of(verify.missing),
                                            .stale = count_of(stale.size()),
                                            .corrupt = count_of(verify.corrupt),
                                            .repaired = count_of(verify.repaired),
                                            .first_problems = problems.take()}};
}

}  // namespace

Result<> verify_cache(data::VerifyFiles files, data::VerifyOptions options,
                      const CacheAndSources& with, const ProgressSink& report,
                      std::stop_token stop) {
  const auto index = files.index;
  auto stale = stale_files(*index, files.expected, with.sources, stop);
  if (stale.is(Code::kCancelled)) return std::move(stale).error();
  const std::vector<Index::Position> none;
  const auto& known_stale = stale ? *stale : none;

  data::Verifier verifier(std::move(files), with.store, with.sources, with.data, options);
  {
    const std::jthread reporter([&](const std::stop_token& end) {
      do {
        report(progress_of(verifier.progress(), known_stale, *index));
      } while (system_clock().sleep(kFindingsInterval, end));
    });
    CHECK_DONE(verifier.run(std::move(stop)));
  }
  const data::VerifyProgress found = verifier.progress();
  report(progress_of(found, known_stale, *index));
  if (!stale) {
    return std::move(stale).error().in("the cache was checked, but it is not known what is stale");
  }
  if (found.failed == 0) return Done{};
  return Error{Code::kUnavailable,
               std::to_string(found.failed) + " of " + std::to_string(found.files_total) +
                   " files could not be checked or repaired, the first: " + found.first_error +
                   "; a sync updates changed files, and with delete-dst removes those that are "
                   "gone"};
}

}  // namespace paddle::engine::samplefs
