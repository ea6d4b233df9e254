// SPDX-License-Identifier: Apache-2.0
#include "runtime/protocol/protocol.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

template <typename T>
Json through_text(const T& value) {
  return *api::parse_json(api::dump_json(encode(value)));
}

TEST(RuntimeProtocol, RequestsAreDecodedAsTheyWereEncoded) {
  for (const JobKind kind : api::kJobKinds) {
    JobRequest request{.kind = kind};
    if (kind == JobKind::kSync) {
      request.sync = {.source = "s3://b",
                      .destination = "a/b",
                      .start = "1",
                      .end = "2",
                      .include = {"x"},
                      .exclude = {"y", "z"},
                      .threads = 3,
                      .megabits = 4,
                      .update = true,
                      .force_update = true,
                      .perms = true,
                      .dirs = true,
                      .dry = true,
                      .delete_source = true,
                      .delete_destination = true,
                      .part = 1,
                      .parts = 3,
                      .lists_at = "set-runtime-0.set-runtime-service.ns:7716",
                      .division = "sync-1.1",
                      .counts = true};
    } else {
      request.which = {.paths = {"a", "b/c"},
                       .file = "list",
                       .partition = 2,
                       .partitions = 3,
                       .strategy = {.order = sampler::Order::kDistributedBatch,
                                    .batch_size = 32,
                                    .ranks = 6,
                                    .seed = 0,
                                    .epoch = 9,
                                    .shuffle = true,
                                    .drop_last = true},
                       .threads = 5,
                       .skip_trash = true,
                       .repair = true,
                       .accepted = 1'800'000'000'000,
                       .again = true,
                       .lists_at = "set-runtime-0.set-runtime-service.ns:7716"};
    }
    EXPECT_EQ(*decode_job_request(through_text(request)), request);
  }
  EXPECT_EQ(*decode_job_request(through_text(JobRequest{})), JobRequest{});
  EXPECT_EQ(*decode_job_request(Json{{"kind", "sync"}}), JobRequest{});
}

TEST(RuntimeProtocol, APartMustBeLessThanTheNumberOfParts) {
  for (const Json& sync : {Json{{"part", 3}, {"parts", 3}}, Json{{"parts", 0}}, Json{{"part", 1}},
                           Json{{"part", -1}, {"parts", 2}}, Json{{"division", "../x"}}}) {
    EXPECT_TRUE(decode_job_request(Json{{"kind", "sync"}, {"sync", sync}}).is(Code::kInvalid))
        << sync.dump();
  }
}

TEST(RuntimeProtocol, KeysAreSentWithASyncAndIgnoredByEquality) {
  JobRequest request{.sync = {.source = "s3://b", .keys = {{{"secret-key", "/+"}}}}};
  const auto back = decode_job_request(through_text(request));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sync.keys.values, request.sync.keys.values);
  request.sync.keys = {};
  EXPECT_EQ(*back, request);
  EXPECT_TRUE(decode_job_request(Json{{"kind", "sync"}, {"sync", {{"keys", {{"a", 1}}}}}})
                  .is(Code::kInvalid));
}

TEST(RuntimeProtocol, ReportsAreDecodedAsTheyWereEncoded) {
  JobReport report{
      .id = "a-1.b",
      .kind = JobKind::kWarmup,
      .state = JobState::kFailed,
      .progress = {.files_total = 1,
                   .files_done = 2,
                   .files_failed = 3,
                   .files_no_room = 4,
                   .bytes_total = 5,
                   .bytes_done = INT64_MAX,
                   .bytes_per_second = 7,
                   .seconds_left = 0,
                   .cut = "cut-1",
                   .left_out = {.count = 2, .examples = {"'a//b' (an empty part)"}},
                   .verification =
                       api::Verification{.checked = 6,
                                         .compared = 5,
                                         .missing = 4,
                                         .stale = 3,
                                         .corrupt = 2,
                                         .repaired = 1,
                                         .first_problems = {{.path = "a/b",
                                                             .problem = "corrupt",
                                                             .repaired = true},
                                                            {.path = "c", .problem = "stale"}}}},
      .error = "no such bucket",
      .cleared_since = true};
  EXPECT_EQ(*decode_job_report(through_text(report)), report);
  report.progress.seconds_left.reset();
  EXPECT_EQ(*decode_job_report(through_text(report)), report);

  StatusReport status{.engine = "samplefs",
                      .index = IndexReport{.generation = 1,
                                           .digest = "d",
                                           .files = 2,
                                           .bytes = 3,
                                           .left_out = {.count = 1, .examples = {"'..' (why)"}}},
                      .cache = {1, 2, 3, 4, 5, 6, "life"},
                      .reads = {7, 8, 9, 10},
                      .mounts = 11,
                      .last_warm_up = LastWarmUp{true, 12, true},
                      .error = "e"};
  EXPECT_EQ(*decode_status_report(through_text(status)), status);
  status.index.reset();
  status.last_warm_up.reset();
  EXPECT_EQ(*decode_status_report(through_text(status)), status);
}

TEST(RuntimeProtocol, UnknownFieldsAreIgnored) {
  EXPECT_TRUE(decode_job_request(Json{{"kind", "clear"}, {"later", Json::object()}}));
  EXPECT_TRUE(decode_job_report(
      Json{{"id", "a"}, {"kind", "clear"}, {"state", "queued"}, {"later", Json::array({1})}}));
  EXPECT_TRUE(decode_status_report(Json{{"cache", {{"later", 1}}}, {"later", 1}}));
}

TEST(RuntimeProtocol, AReportWithoutLeftOutObjectsIsAccepted) {
  const auto old = decode_status_report(Json{{"index", {{"generation", 1}, {"digest", "d"}}}});
  ASSERT_TRUE(old);
  EXPECT_EQ(old->index->left_out, engine::LeftOut{});
  EXPECT_FALSE(
      encode(StatusReport{.index = IndexReport{.generation = 1}})["index"].contains("leftOut"))
      << "nothing is not said";
}

TEST(RuntimeProtocol, ProblemsOfAVerificationAreFewShortAndOfAKnownKind) {
  Json problems = Json::array({{{"path", "a"}, {"problem", "on fire"}},
                               {{"path", std::string(501, 'x')}, {"problem", "corrupt"}}});
  for (int i = 0; i < 50; ++i) problems.push_back({{"path", "a"}, {"problem", "missing"}});
  const auto report = [&](const Json& list) {
    return decode_job_report(Json{{"id", "a"},
                                  {"kind", "verify"},
                                  {"state", "running"},
                                  {"verification", {{"corrupt", 51}, {"firstProblems", list}}}});
  };
  const auto decoded = report(problems);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->progress.verification->corrupt, 51);
  EXPECT_EQ(decoded->progress.verification->first_problems,
            std::vector<api::FoundProblem>(20, {.path = "a", .problem = "missing"}));
  EXPECT_TRUE(report(3).is(Code::kInvalid));
  EXPECT_TRUE(report(Json::array({3})).is(Code::kInvalid));
}

TEST(RuntimeProtocol, ExamplesOfLeftOutObjectsAreFewAndShort) {
  Json examples = Json::array({std::string(10'000, 'x')});
  for (int i = 0; i < 50; ++i) examples.push_back("'" + std::to_string(i) + "'");
  const auto report = decode_status_report(
      Json{{"index", {{"leftOut", {{"count", 51}, {"examples", examples}, {"later", 1}}}}}});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->index->left_out.count, 51);
  const auto& kept = report->index->left_out.examples;  // the first twenty but for the long one
  ASSERT_EQ(kept.size(), 19u);
  EXPECT_EQ(kept.front(), "'0'");
  EXPECT_EQ(kept.back(), "'18'");
  EXPECT_TRUE(decode_status_report(Json{{"index", {{"leftOut", 3}}}}).is(Code::kInvalid));
}

TEST(RuntimeProtocol, AnErrorNamesTheField) {
  const auto says = [](const Json& json) {
    const auto decoded = decode_job_request(json);
    return decoded ? "fine" : decoded.error().message;
  };
  EXPECT_EQ(says(Json{{"kind", "dance"}}), "kind is not one of sync, warmup, rmr, clear, verify");
  EXPECT_EQ(says(Json::array()), "the message is not an object");
  EXPECT_EQ(says(Json::object()), "kind is not one of sync, warmup, rmr, clear, verify");
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"paths", "a"}}).rfind("paths is not", 0), 0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"paths", Json::array({1})}}).rfind("paths is not", 0),
            0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"partitions", 0}}).rfind("partitions is not", 0), 0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"partition", 1}}).rfind("partition is not", 0), 0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"partition", -1}}).rfind("partition is not", 0), 0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"partition", 1.5}}).rfind("partition is not", 0), 0u);
  EXPECT_EQ(says(Json{{"kind", "warmup"}, {"partition", UINT64_MAX}}).rfind("partition is not", 0),
            0u);
  EXPECT_TRUE(decode_status_report(Json{{"cache", 1}}).is(Code::kInvalid));
  EXPECT_TRUE(decode_job_report(Json{{"id", "../x"}, {"kind", "sync"}, {"state", "queued"}})
                  .is(Code::kInvalid));
}

TEST(RuntimeProtocol, PathsStayBeneathTheRoot) {
  const auto takes = [](const std::string& path) {
    return bool(decode_job_request(Json{{"kind", "warmup"}, {"paths", Json::array({path})}}));
  };
  for (const char* good : {"a", "a/b", "a/", "..a", "a..", ".a", "\xe7\x8c\xab"}) {
    EXPECT_TRUE(takes(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("/"), std::string("/a"), std::string(".."),
        std::string("a/../b"), std::string("."), std::string("a//b"), std::string("a/./b"),
        std::string("a\0b", 3), std::string("a/.."), std::string(5000, 'a')}) {
    EXPECT_FALSE(takes(bad)) << bad;
  }
}

TEST(RuntimeProtocol, APollAsksForJobsAndReportsThemWithTheStatus) {
  EXPECT_EQ(poll_path({"a", "b.1"}), "/v1/status?jobs=a,b.1");
  EXPECT_EQ(poll_path({}), "/v1/status?jobs=");
  EXPECT_EQ(poll_path({"a", kAllJobs}), "/v1/status?jobs=*");
  EXPECT_EQ(poll_path(std::vector<std::string>(1000, "a")), "/v1/status?jobs=*");
  using Ids = std::vector<std::string>;
  EXPECT_EQ(jobs_of_query("jobs=a,b.1"), (Ids{"a", "b.1"}));
  EXPECT_EQ(jobs_of_query("jobs=*"), Ids{"*"});
  EXPECT_EQ(jobs_of_query("jobs="), Ids{});
  EXPECT_EQ(jobs_of_query("a=1&jobs=b&verbose="), Ids{"b"});
  EXPECT_EQ(jobs_of_query("jobs=../x,,b"), Ids{"b"});
  EXPECT_EQ(jobs_of_query(""), std::nullopt);
  EXPECT_EQ(jobs_of_query("verbose=&x=jobs"), std::nullopt);

  PollReport report{.status = {.engine = "samplefs"}, .jobs = std::vector<JobReport>{}};
  EXPECT_EQ(*decode_poll_report(encode(report)), report);
  report.jobs->push_back({.id = "a", .state = JobState::kRunning});
  EXPECT_EQ(*decode_poll_report(encode(report)), report);
  EXPECT_FALSE(decode_poll_report(encode(report.status))->jobs) << "of an older server";
  EXPECT_TRUE(decode_poll_report(Json{{"jobs", 1}}).is(Code::kInvalid));
}

TEST(RuntimeProtocol, AListOfJobsFitsIntoAnAnswerAndLeavesOutWhatEndedFirst) {
  PollReport report{.status = {.engine = "juicefs", .index = IndexReport{.generation = 1}}};
  for (int i = 0; i < 5; ++i)
    report.status.index->left_out.examples.push_back(std::string(500, 'x'));
  std::vector<JobReport>& jobs = report.jobs.emplace();
  for (int i = 0; i < 600; ++i) {
    const bool waits = i % 6 == 0;
    jobs.push_back({.id = std::string(60, 'i') + std::to_string(1000 + i),
                    .kind = JobKind::kWarmup,
                    .state = waits ? JobState::kQueued : JobState::kFailed,
                    .error = waits ? "" : std::string(kLongestJobError, 'e')});
  }
  const Json json = encode(report);
  EXPECT_LE(api::dump_json(json).size(), kLongestAnswer);
  const auto read = decode_poll_report(json);
  ASSERT_TRUE(read);
  const auto waiting = std::ranges::count(*read->jobs, JobState::kQueued, &JobReport::state);
  EXPECT_EQ(waiting, 100) << "a caller looks for those to cancel them";
  EXPECT_GT(read->jobs->size(), 100u);
  EXPECT_EQ(read->jobs->back(), jobs.back()) << "the latest";
  EXPECT_TRUE(std::ranges::is_sorted(*read->jobs, {}, &JobReport::id));
}

TEST(RuntimeProtocol, AnIdIsAPlainName) {
  for (const std::string& good : {std::string("a"), std::string("A-1.b"), std::string(64, 'x')}) {
    EXPECT_TRUE(is_job_id(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string(".a"), std::string("a/b"),
        std::string("a b"), std::string("a\n"), std::string(65, 'x'), std::string("\0", 1)}) {
    EXPECT_FALSE(is_job_id(bad)) << bad;
  }
}

TEST(RuntimeProtocol, OnlySucceededFailedAndCancelledAreEnds) {
  EXPECT_FALSE(ended(JobState::kQueued));
  EXPECT_FALSE(ended(JobState::kRunning));
  for (const JobState state : {JobState::kSucceeded, JobState::kFailed, JobState::kCancelled}) {
    EXPECT_TRUE(ended(state));
    EXPECT_EQ(*parse_job_state(to_string(state)), state);
  }
}

}  // namespace
}  // namespace paddle::runtime
