// SPDX-License-Identifier: Apache-2.0
//
// Random walks over the specs of PaddleJobs (walk.h), with pods that run, succeed and are deleted.

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "base/scratch.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reconciler.h"
#include "engine/names.h"
#include "etcd/memory_store.h"
#include "test/support/fake_kubelet.h"
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
namespace paddle_job = controllers::paddle_job;
using std::chrono::seconds;

constexpr const char* kNamespace = "train";
const ObjectKey kJob{kNamespace, "resnet"};

// A cluster with one PaddleJob, its operator and its nodes.
class JobCluster {
 public:
  JobCluster(std::uint64_t seed, Defect defect, Pace pace = Pace::kUsual)
      : server_(scratch_.path(), clock_, seed, pace),
        cluster_(server_),
        kubelet_(test::FakeKubelet::without_thread(
            cluster_, kNamespace, [this](const std::string& name, int) {
              return name == succeeds_ ? "Succeeded" : "Running";
            })) {
    make_object(cluster_, kinds::kNamespaces, {{"metadata", {{"name", kNamespace}}}});
    make_samples();
    options_.etcd = std::make_shared<etcd::MemoryStore>();
    options_.config.etcd = {"http://etcd:2379"};
    options_.parallel_actions = 1;
    operator_ = std::make_unique<SteppedController>(
        server_, defect,
        [this](const controllers::ControllerContext& context) {
          return paddle_job::make_reconciler(context, options_, clock_);
        },
        clock_, seed + 1);
  }

  Result<> create(const Json& spec) {
    const auto made = cluster_.create(kinds::kPaddleJobs,
                                      {{"apiVersion", "batch.paddlepaddle.org/v1"},
                                       {"kind", "PaddleJob"},
                                       {"metadata", {{"namespace", kJob.ns}, {"name", kJob.name}}},
                                       {"spec", spec}});
    if (!made) return made.error();
    return Done{};
  }
  Json job() {
    const auto found = cluster_.get(kinds::kPaddleJobs, kJob);
    return found ? *found : Json();
  }
  Json spec() { return api::look(job(), "spec"); }
  std::string phase() { return api::look_text(job(), "/status/phase"); }
  bool ended() { return job().is_null() || api::paddle_job_phase::is_final(phase()); }

  Result<> edit(const Json& spec) {
    Json next = job();
    next["spec"] = spec;
    const auto done = cluster_.update(kinds::kPaddleJobs, next);
    if (!done) return done.error();
    return Done{};
  }
  void request_restart(const std::string& value) {
    EXPECT_TRUE(cluster_.patch(
        kinds::kPaddleJobs, kJob,
        {.body = {{"metadata", {{"annotations", {{paddle_job::kRestartAnnotation, value}}}}}}}));
  }
  bool update_pending() { return condition("UpdatePending") == "True"; }

  void go_on(Random& random) {
    for (std::uint64_t steps = random.below(12); steps > 0; --steps) {
      const std::uint64_t what = random.below(5);
      if (what < 2) operator_->step();
      if (what == 2) kubelet_->look();
      if (what == 3) clock_.advance(seconds{1 + random.below(10)});
      if (what == 4 && random.below(8) == 0) operator_->restart();
    }
  }
  // Until nothing changes any more. False: that does not happen.
  bool settle() {
    int quiet = 0;
    for (int round = 0; round < 600; ++round) {
      const std::uint64_t before = server_.revision();
      for (int steps = 0; operator_->step(); ++steps) {
        if (steps > 300) return false;
      }
      kubelet_->look();
      quiet = server_.revision() == before ? quiet + 1 : 0;
      if (quiet == 4) return true;
      clock_.advance(seconds{quiet < 2 ? 2 : 400});
    }
    return false;
  }

  // A worker succeeds, its success is stored, and its pod is deleted, as a cleaner does. Nothing is
  // lost by that. Returns what was.
  std::string finish_and_remove(Random& random) {
    if (!settle()) return "  it does not settle\n";  // edits have taken effect
    std::vector<std::string> running;
    for (const Json& pod : all(cluster_, kinds::kPods)) {
      const bool trains =
          api::look_text(pod, "/metadata/name").find("-worker-") != std::string::npos;
      if (trains && api::look_text(pod, "/status/phase") == "Running") {
        running.push_back(api::look_text(pod, "/metadata/name"));
      }
    }
    if (running.size() < 2 || phase() != "Running") return "";
    const auto before = counters();
    succeeds_ = running[random.below(running.size())];
    const std::string name = succeeds_;
    kubelet_->look();
    bool settled = settle();
    succeeds_.clear();
    if (ended()) return "";  // by its successPolicy
    if (random.below(2) == 0) operator_->restart();
    EXPECT_TRUE(cluster_.remove(kinds::kPods, {kNamespace, name}, {.grace_seconds = 0}));
    settled = settle() && settled;
    if (!settled) return "  the job does not settle after a pod that succeeded was deleted\n";
    if (counters() != before) {
      return "  a pod that had succeeded was deleted, and the job restarted: " + before + " -> " +
             counters() + "\n";
    }
    if (cluster_.get(kinds::kPods, {kNamespace, name})) {
      return "  " + name + " had succeeded and was created again\n";
    }
    return "";
  }

  EndState end_state();
  std::uint64_t digest() const { return server_.digest(); }

 private:
  // A set that is Ready, warm, and bound.
  void make_samples() {
    make_object(cluster_, kinds::kNodes, {{"metadata", {{"name", "node-0"}}}});
    make_object(cluster_, kinds::kSampleSets,
                {{"metadata", {{"namespace", kNamespace}, {"name", "imagenet"}}},
                 {"spec", {{"source", {{"uri", "s3://b/images"}}}}},
                 {"status",
                  {{"phase", "Ready"},
                   {"engine", "samplefs"},
                   {"partitions", Json::array({Json{{"index", 0},
                                                    {"node", "node-0"},
                                                    {"totalBytes", 100},
                                                    {"cachedBytes", 100},
                                                    {"warmed", "w"},
                                                    {"warmedOn", "node-0"},
                                                    {"ready", true}}})}}}});
    make_object(cluster_, kinds::kClaims,
                {{"metadata",
                  {{"namespace", kNamespace},
                   {"name", "imagenet"},
                   {"labels", {{engine::kSetLabel, "imagenet"}}}}},
                 {"spec",
                  {{"accessModes", {"ReadOnlyMany", "ReadOnlyMany"}},
                   {"resources", {{"requests", {{"storage", "1Gi"}}}}}}},
                 {"status", {{"phase", "Bound"}}}});
  }
  std::string condition(const char* type) {
    const Json object = job();
    for (const Json& each : api::look_list(object, "/status/conditions")) {
      if (api::look_text(each, "type") == type) return api::look_text(each, "status");
    }
    return "";
  }
  std::string counters() {
    const Json object = job();
    std::string text;
    for (const char* name : {"/status/epoch", "/status/disruptions", "/status/failures"}) {
      text += std::string(name) + "=" + std::to_string(api::look_integer(object, name)) + " ";
    }
    return text;
  }

  const Scratch scratch_{};
  ManualClock clock_{};
  EmbeddedServer server_;
  EmbeddedCluster cluster_;  // of users and kubelets
  std::unique_ptr<test::FakeKubelet> kubelet_;
  std::string succeeds_{};  // the pod whose program ends next
  paddle_job::Options options_{};
  std::unique_ptr<SteppedController> operator_;
};

// ---- normal forms ----

// What the documents call history of a job: docs/en/paddlejob.md, Status.
const std::set<std::string> kHistory{
    "epoch",       "failures",       "disruptions",        "ignoredFailures",  "restarts",
    "restartTime", "startTime",      "runningTime",        "activeTime",       "completionTime",
    "refs",        "restartRequest", "observedGeneration", "completedIndexes", "lastTransitionTime",
    "message"};

void drop(Json& value, const std::set<std::string>& names) {
  if (value.is_object()) {
    for (const std::string& name : names) value.erase(name);
  }
  if (value.is_structured()) {
    for (Json& inner : value) drop(inner, names);
  }
}

// The coordinator is told its epoch.
void drop_epoch(Json& value) {
  if (value.is_object() && value.contains("name") && value["name"] == "PADDLE_RELEASE_EPOCH") {
    value.erase("value");
  }
  if (!value.is_structured()) return;
  for (Json& inner : value) drop_epoch(inner);
}

EndState JobCluster::end_state() {
  const Json object = job();
  // Addresses and ports depend on the order of events: names take their place.
  std::vector<std::pair<std::string, std::string>> names;
  for (const Json& pod : all(cluster_, kinds::kPods)) {
    const std::string ip = api::look_text(pod, "/status/podIP");
    if (!ip.empty()) names.emplace_back(ip, "<" + api::look_text(pod, "/metadata/name") + ">");
  }
  const std::int64_t port = api::look_integer(object, "/status/port");
  for (int i = 0; port > 0 && i < paddle_job::kPortsPerJob; ++i) {
    names.emplace_back(std::to_string(port + i), std::to_string(90'000 + i));
  }
  std::ranges::sort(names, {},
                    [](const auto& each) { return -static_cast<int>(each.first.size()); });
  EndState state;
  const auto add = [&](const std::string& name, const Json& value) {
    std::string text = value.dump();
    for (const auto& [from, to] : names) replace_all(text, from, to);
    state[name] = Json::parse(text);
  };
  const auto add_all = [&](const kube::Resource& resource, const std::set<std::string>& parts) {
    for (const Json& each : all(cluster_, resource)) {
      Json kept{{"labels", api::look(each, "/metadata/labels")},
                {"annotations", api::look(each, "/metadata/annotations")}};
      if (kept["annotations"].is_object()) {
        for (const char* history :
             {paddle_job::kReleaseAnnotation, paddle_job::kReleasedAtAnnotation,
              paddle_job::kEpochAnnotation, paddle_job::kTemplateHashAnnotation}) {
          kept["annotations"].erase(history);
        }
      }
      for (const std::string& part : parts) kept[part] = api::look(each, part.c_str());
      add(resource.plural + "/" + api::look_text(each, "/metadata/name"), kept);
    }
  };
  add_all(kinds::kPods, {"spec"});
  for (auto& [name, pod] : state) drop_epoch(pod);
  for (const Json& pod : all(cluster_, kinds::kPods)) {
    state["pods/" + api::look_text(pod, "/metadata/name")]["phase"] =
        api::look_text(pod, "/status/phase");
  }
  add_all(kinds::kServices, {"spec"});
  // Without pods it is that of the last run, which the next one replaces; an elastic job has none,
  // but for that of a run before it was elastic.
  const bool elastic = !api::look(object, "/spec/elastic").is_null();
  if (!elastic && !all(cluster_, kinds::kPods).empty()) add_all(kinds::kConfigMaps, {"data"});
  Json status = api::look(object, "status");
  drop(status, kHistory);
  // A job keeps its ports until it ends.
  if (all(cluster_, kinds::kPods).empty()) status.erase("port");
  if (status.contains("conditions")) {
    Json conditions = Json::object();
    for (const Json& each : status["conditions"]) {
      const bool was = each["type"] == "Suspended" && each["status"] == "False";
      if (!was) conditions[each["type"].get<std::string>()] = each;
    }
    status["conditions"] = conditions;
  }
  add("status", status);
  return state;
}

// ---- the walk ----

Json first_spec(SpecEditor& editor, Random& random) {
  Json spec;
  const auto role = [&](int replicas) {
    return Json{{"replicas", replicas}, {"template", editor.value_of("worker.template")}};
  };
  const std::uint64_t form = random.below(8);
  if (form == 0) {
    spec["tasks"] = Json::array({role(2), role(1)});
    spec["tasks"][0]["name"] = "trainer";
    spec["tasks"][1]["name"] = "ps";
  } else {
    spec["worker"] = role(2);
    if (form < 3) spec["ps"] = role(1);
  }
  if (form == 7) spec["intranet"] = editor.value_of("intranet");
  if (random.below(10) == 0) spec["managedBy"] = "batch.paddlepaddle.org/paddle-operator";
  return spec;
}

// A job cannot change between roles and tasks in one field.
Json other_form(Json spec) {
  const bool tasks = spec.contains("tasks");
  Json role = tasks ? spec["tasks"][0] : spec.value("worker", spec.value("ps", Json()));
  for (const char* each : {"tasks", "worker", "ps", "heter", "mode", "elastic"}) spec.erase(each);
  if (!tasks) role["name"] = "trainer";
  if (tasks) role.erase("name");
  if (role.value("replicas", 0) < 1) role["replicas"] = 1;
  if (tasks) {
    spec["worker"] = role;
  } else {
    spec["tasks"] = Json::array({role});
  }
  return spec;
}

WalkResult walk(std::uint64_t seed, Defect defect, EditCoverage& coverage,
                Pace pace = Pace::kUsual) {
  Random random(seed * 7919 + 17);
  SpecEditor editor(api::Kind::kPaddleJob, random);
  JobCluster walked(seed, defect, pace);
  WalkResult result;
  const Json first = first_spec(editor, random);
  if (const auto made = walked.create(first); !made) {
    return {.complaint =
                "the first spec is refused: " + made.error().message + "\n" + first.dump()};
  }
  coverage.note(Json::object(), walked.spec());
  if (random.below(3) != 0 && !walked.settle()) return {.complaint = "  it does not settle\n"};
  for (int tries = 0; result.edits < kEdits && tries < 40 * kEdits; ++tries) {
    const Json before = walked.spec();
    const bool turns = random.below(60) == 0;
    const Json next = turns ? other_form(before) : editor.edited(before);
    if (next == before || !walked.edit(next)) continue;
    ++result.edits;
    coverage.note(before, walked.spec());
    walked.go_on(random);
    if (random.below(6) == 0 && !walked.settle()) {
      result.complaint = "  it does not settle after edit " + std::to_string(result.edits) + "\n" +
                         walked.spec().dump() + "\n";
      return result;
    }
    if (random.below(10) == 0) walked.request_restart(std::to_string(tries));
    if (random.below(12) == 0) {
      result.complaint = walked.finish_and_remove(random);
      if (!result.complaint.empty()) return result;
      if (!walked.ended()) walked.request_restart("again-" + std::to_string(tries));
    }
  }
  if (!walked.settle()) {
    result.complaint = "  it does not settle at the end\n" + walked.spec().dump() + "\n";
    return result;
  }
  result.digest = walked.digest();
  if (walked.ended()) {
    result.comparable = false;
    return result;
  }
  if (walked.update_pending()) {
    walked.request_restart("last");
    EXPECT_TRUE(walked.settle()) << "seed " << seed;
  }
  JobCluster fresh(seed + 1'000'000, Defect::kNone);
  if (const auto made = fresh.create(walked.spec()); !made) {
    result.complaint = "  the last spec is refused as a new one: " + made.error().message + "\n";
    return result;
  }
  EXPECT_TRUE(fresh.settle()) << "seed " << seed;
  result.complaint = difference(walked.end_state(), fresh.end_state());
  if (!result.complaint.empty()) result.complaint += "  of the spec " + walked.spec().dump() + "\n";
  return result;
}

constexpr std::uint64_t kWalks = 80;

TEST(PaddleJobWalks, EndLikeANewJobWithTheLastSpec) {
  EditCoverage coverage(api::Kind::kPaddleJob);
  run_walks("PaddleJob", kWalks,
            [&](std::uint64_t seed) { return walk(seed, Defect::kNone, coverage); });
  expect_all_edited("PaddleJob", coverage);
}

TEST(PaddleJobWalks, AreTheSameOnASlowMachine) {
  EditCoverage coverage(api::Kind::kPaddleJob);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_EQ(walk(seed, Defect::kNone, coverage, Pace::kSlowInformers).digest,
              walk(seed, Defect::kNone, coverage).digest)
        << "seed " << seed;
  }
}

class PaddleJobWalkDefects : public ::testing::TestWithParam<Defect> {};

TEST_P(PaddleJobWalkDefects, AreFoundWithinTheWalksOfATest) {
  EditCoverage coverage(api::Kind::kPaddleJob);
  expect_found("PaddleJob", kWalks,
               [&](std::uint64_t seed) { return walk(seed, GetParam(), coverage); });
}

INSTANTIATE_TEST_SUITE_P(A2AndA5, PaddleJobWalkDefects,
                         ::testing::Values(Defect::kForgetsSuccess, Defect::kIgnoresTemplates));

}  // namespace
}  // namespace paddle::walks
