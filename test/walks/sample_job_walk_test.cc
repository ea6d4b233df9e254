// SPDX-License-Identifier: Apache-2.0
//
// Random walks over the specs of SampleJobs (walk.h). A job that has done its work has done it: so
// edits come while it is suspended, and the end is what the runtimes are asked to do afterwards.

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/sample_set.h"
#include "base/base64.h"
#include "base/scratch.h"
#include "controllers/sample_job/reconciler.h"
#include "engine/names.h"
#include "test/walks/embedded_cluster.h"
#include "test/walks/sample_environment.h"
#include "test/walks/spec_editor.h"
#include "test/walks/stepped_controller.h"
#include "test/walks/walk.h"

namespace paddle::walks {
namespace {

using api::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;
namespace sample_job = controllers::sample_job;
using std::chrono::seconds;

const ObjectKey kSampleJob{"train", "load"};

// A cluster with one SampleJob, its operator, and a Ready set with two runtimes.
class SampleJobCluster {
 public:
  SampleJobCluster(std::uint64_t seed, std::chrono::nanoseconds age, Pace pace = Pace::kUsual)
      : server_(scratch_.path(), clock_, seed, pace), cluster_(server_) {
    make_object(cluster_, kinds::kNamespaces, {{"metadata", {{"name", kSampleJob.ns}}}});
    make_set();
    for (const char* name : {"keys", "other-keys"}) {
      make_object(cluster_, kinds::kSecrets,
                  {{"metadata", {{"namespace", kSampleJob.ns}, {"name", name}}},
                   {"data", {{"access-key", base64_encode(name)}, {"secret-key", "cw=="}}}});
    }
    options_.polls = runtimes_.polls();
    options_.sends = runtimes_.sends();
    options_.config.polls_in_passes = true;
    clock_.advance(age);
    operator_ = std::make_unique<SteppedController>(
        server_, Defect::kNone,
        [this](const controllers::ControllerContext& context) {
          return sample_job::make_reconciler(context, options_, clock_);
        },
        clock_, seed + 1);
  }

  Result<> create(const Json& spec) {
    const auto made =
        cluster_.create(kinds::kSampleJobs,
                        {{"apiVersion", kinds::kSampleJobs.api_version()},
                         {"kind", kinds::kSampleJobs.kind},
                         {"metadata", {{"namespace", kSampleJob.ns}, {"name", kSampleJob.name}}},
                         {"spec", spec}});
    if (!made) return made.error();
    return Done{};
  }
  Json spec() {
    const auto found = cluster_.get(kinds::kSampleJobs, kSampleJob);
    return found ? api::look(*found, "spec") : Json();
  }
  Result<> edit(const Json& spec) {
    const auto found = cluster_.get(kinds::kSampleJobs, kSampleJob);
    if (!found) return found.error();
    Json next = *found;
    next["spec"] = spec;
    const auto done = cluster_.update(kinds::kSampleJobs, next);
    if (!done) return done.error();
    return Done{};
  }
  void go_on(Random& random) {
    for (std::uint64_t steps = random.below(10); steps > 0; --steps) {
      const std::uint64_t what = random.below(4);
      if (what < 2) operator_->step();
      if (what == 2) clock_.advance(seconds{1 + random.below(10)});
      if (what == 3 && random.below(8) == 0) operator_->restart();
    }
  }
  std::uint64_t digest() const { return server_.digest(); }
  std::chrono::nanoseconds age() const { return clock_.boot().time_since_epoch(); }
  // The next quarter of an hour.
  void live() {
    for (int round = 0; round < 60; ++round) {
      for (int steps = 0; steps < 100 && operator_->step(); ++steps) {
      }
      clock_.advance(seconds{15});
    }
  }
  EndState end_state() {
    EndState state;
    Json requests = runtimes_.requests();
    std::sort(requests.begin(), requests.end());
    state["requests"] = requests;
    auto jobs = all(cluster_, kinds::kSampleJobs);
    // Names of a schedule's runs are a hash of its uid and the time.
    std::stable_sort(jobs.begin(), jobs.end(), [](const Json& a, const Json& b) {
      constexpr const char* kCreated = "/metadata/creationTimestamp";
      return api::look_text(a, kCreated) < api::look_text(b, kCreated);
    });
    int runs = 0;
    for (const Json& job : jobs) {
      std::string name = api::look_text(job, "/metadata/name");
      if (name != kSampleJob.name) name = "run " + std::to_string(runs++);
      Json kept{{"phase", api::look(job, "/status/phase")}, {"spec", api::look(job, "spec")}};
      for (const Json& each : api::look_list(job, "/status/conditions")) {
        kept["conditions"][api::look_text(each, "type")] = {api::look_text(each, "status"),
                                                            api::look_text(each, "reason")};
      }
      state["samplejobs/" + name] = kept;
    }
    return state;
  }

 private:
  void make_set() {
    constexpr const char* kName = "imagenet";
    make_object(cluster_, kinds::kSampleSets,
                {{"metadata", {{"namespace", kSampleJob.ns}, {"name", kName}}},
                 {"spec", {{"partitions", 2}, {"source", {{"uri", "s3://b/images"}}}}},
                 {"status", {{"phase", "Ready"}, {"engine", "samplefs"}}}});
    const auto made = cluster_.get(kinds::kSampleSets, {kSampleJob.ns, kName});
    ASSERT_TRUE(made);
    const auto set = *api::decode_sample_set(*made);
    Json secret{{"data",
                 {{engine::kTokenKey, base64_encode("secret")},
                  {engine::kAuthorityKey, base64_encode("certificates")}}}};
    secret["metadata"] = api::encode_meta({.key = {kSampleJob.ns, engine::runtime_name(set)},
                                           .owners = {engine::owner_reference(set)}});
    make_object(cluster_, kinds::kSecrets, secret);
    make_object(
        cluster_, kinds::kStatefulSets,
        {{"metadata", {{"namespace", kSampleJob.ns}, {"name", engine::runtime_name(set)}}},
         {"spec",
          {{"replicas", 2},
           {"serviceName", "s"},
           {"selector", {{"matchLabels", {{engine::kSetLabel, kName}}}}},
           {"template",
            {{"metadata", {{"labels", {{engine::kSetLabel, kName}}}}},
             {"spec", {{"containers", Json::array({Json{{"name", "m"}, {"image", "i"}}})}}}}}}}});
    run_environment(cluster_);
  }

  const Scratch scratch_{};
  ManualClock clock_{};
  EmbeddedServer server_;
  EmbeddedCluster cluster_;
  StepRuntimes runtimes_{};
  sample_job::Options options_{};
  std::unique_ptr<SteppedController> operator_;
};

WalkResult walk_sample_job(std::uint64_t seed, EditCoverage& coverage, Pace pace = Pace::kUsual) {
  Random random(seed * 7919 + 41);
  SpecEditor editor(api::Kind::kSampleJob, random);
  SampleJobCluster walked(seed, {}, pace);
  WalkResult result;
  Json first{{"type", "warmup"}, {"sampleSetRef", {{"name", "imagenet"}}}, {"suspend", true}};
  if (random.below(3) == 0) first["schedule"] = editor.value_of("schedule");
  if (const auto made = walked.create(first); !made) {
    return {.complaint = "the first spec is refused: " + made.error().message};
  }
  coverage.note(Json::object(), walked.spec());
  for (int tries = 0; result.edits < kEdits && tries < 40 * kEdits; ++tries) {
    const Json before = walked.spec();
    Json next = editor.edited(before);
    next["suspend"] = true;
    if (next == before || !walked.edit(next)) continue;
    ++result.edits;
    coverage.note(before, walked.spec());
    walked.go_on(random);
  }
  SampleJobCluster fresh(seed + 1'000'000, walked.age());
  if (const auto made = fresh.create(walked.spec()); !made) {
    result.complaint = "  the last spec is refused as a new one: " + made.error().message + "\n";
    return result;
  }
  for (SampleJobCluster* each : {&walked, &fresh}) {
    Json begins = each->spec();
    begins["suspend"] = false;
    EXPECT_TRUE(each->edit(begins)) << "seed " << seed;
    each->live();
  }
  result.digest = walked.digest();
  result.complaint = difference(walked.end_state(), fresh.end_state());
  if (!result.complaint.empty()) result.complaint += "  of the spec " + walked.spec().dump() + "\n";
  return result;
}

TEST(SampleJobWalks, EndLikeANewJobWithTheLastSpec) {
  EditCoverage coverage(api::Kind::kSampleJob);
  run_walks("SampleJob", 70, [&](std::uint64_t seed) { return walk_sample_job(seed, coverage); });
  expect_all_edited("SampleJob", coverage);
}

TEST(SampleJobWalks, AreTheSameOnASlowMachine) {
  EditCoverage coverage(api::Kind::kSampleJob);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(walk_sample_job(seed, coverage, Pace::kSlowInformers).digest,
              walk_sample_job(seed, coverage).digest)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace paddle::walks
