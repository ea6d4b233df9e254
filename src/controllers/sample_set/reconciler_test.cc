// SPDX-License-Identifier: Apache-2.0
//
// The reconciler on a FakeCluster, with a simulation of the other controllers (binding volumes,
// running pods) and of the runtimes; also with calls that fail, get lost and are repeated.

#include "controllers/sample_set/reconciler.h"

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/sync.h"
#include "controllers/sample_set/testing/fake_runtimes.h"
#include "controllers/sample_set/testing/model_engine.h"
#include "engine/names.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"
#include "test/support/until.h"

namespace paddle::controllers::sample_set {
namespace {

using namespace std::chrono_literals;
using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;
using test::until;

const ObjectKey kKey{"train", "imagenet"};
const ObjectKey kRuntimes{"train", "imagenet-runtime"};
constexpr auto kNpos = std::string::npos;

// Does the work of kube-controller-manager and kubelet.
class RestOfTheCluster {
 public:
  explicit RestOfTheCluster(kube::FakeCluster& server)
      : server_(server), thread_([this](std::stop_token stop) {
          while (system_clock().sleep(2ms, stop)) step();
        }) {}

 private:
  std::vector<Json> all(const kube::Resource& resource) {
    std::vector<Json> found;
    auto listed = server_.list(resource, {}, [&](std::string_view text) -> Result<> {
      TRY(Json object, api::parse_json(text));
      found.push_back(std::move(object));
      return Done{};
    });
    EXPECT_TRUE(listed);
    return found;
  }
  void set_status(const kube::Resource& resource, const Json& object, const Json& status) {
    const Json& meta = object["metadata"];
    const ObjectKey key{meta.value("namespace", ""), meta["name"]};
    (void)server_.patch(resource, key, {.body = {{"status", status}}}, "status");
  }
  void step() {
    for (const Json& volume : all(kinds::kPersistentVolumes)) bind(volume);
    for (const Json& set : all(kinds::kStatefulSets)) run(set);
    for (const Json& pod : all(kinds::kPods)) {  // preparation pods succeed
      const bool ends = pod["metadata"]["name"].get<std::string>().ends_with("-format");
      const bool ended = pod.value("/status/phase"_json_pointer, "") == std::string("Succeeded");
      if (ends && !ended) set_status(kinds::kPods, pod, {{"phase", "Succeeded"}});
    }
    server_.collect_dangling();
    for (const Json& pod : all(kinds::kPods)) {  // the kubelet confirms deletions
      if (!pod["metadata"].contains("deletionTimestamp")) continue;
      (void)server_.remove(kinds::kPods, {pod["metadata"]["namespace"], pod["metadata"]["name"]},
                           {.grace_seconds = 0});
    }
  }
  // A volume that was bound to a claim is not bound to another claim of the same name.
  void bind(const Json& volume) {
    const Json ref = volume.value("/spec/claimRef"_json_pointer, Json::object());
    const auto claim =
        server_.get(kinds::kClaims, {ref.value("namespace", ""), ref.value("name", "")});
    const std::string uid = claim ? (*claim)["metadata"]["uid"].get<std::string>() : "";
    const bool fits = claim && (ref.value("uid", "").empty() || ref.value("uid", "") == uid);
    const std::string phase = volume.value("/status/phase"_json_pointer, std::string());
    if (!fits && phase == "Bound") {
      set_status(kinds::kPersistentVolumes, volume, {{"phase", "Released"}});
    }
    if (!fits || (phase == "Bound" && claim->value("/status/phase"_json_pointer, "") == phase)) {
      return;
    }
    (void)server_.patch(kinds::kPersistentVolumes, {"", volume["metadata"]["name"]},
                        {.body = {{"spec", {{"claimRef", {{"uid", uid}}}}}}});
    set_status(kinds::kPersistentVolumes, volume, {{"phase", "Bound"}});
    set_status(kinds::kClaims, *claim, {{"phase", "Bound"}});
  }
  void run(const Json& set) {
    const int wanted = set["spec"]["replicas"];
    const std::string name = set["metadata"]["name"];
    for (int i = 0; i < wanted; ++i) {
      Json pod = set["spec"]["template"];
      pod["apiVersion"] = "v1";
      pod["kind"] = "Pod";
      pod["metadata"]["name"] = name + "-" + std::to_string(i);
      pod["metadata"]["namespace"] = set["metadata"]["namespace"];
      pod["metadata"]["ownerReferences"] = Json::array({Json{{"apiVersion", "apps/v1"},
                                                             {"kind", "StatefulSet"},
                                                             {"name", name},
                                                             {"uid", set["metadata"]["uid"]},
                                                             {"controller", true}}});
      pod["spec"]["nodeName"] = "node-" + std::to_string(i);
      const auto made = server_.create(kinds::kPods, pod);
      if (!made) continue;
      set_status(kinds::kPods, *made,
                 {{"phase", "Running"}, {"podIP", "10.0.0." + std::to_string(i + 1)}});
    }
    if (!set.contains("status") || set["status"].value("readyReplicas", 0) != wanted) {
      set_status(kinds::kStatefulSets, set, {{"replicas", wanted}, {"readyReplicas", wanted}});
    }
  }

  kube::FakeCluster& server_;
  std::jthread thread_;
};

struct SampleSetReconcilerTest : ::testing::Test {
  kube::FakeCluster server{};
  Metrics metrics{};
  FakeRuntimes runtimes{};
  runtime::RuntimePolls polls{};  // empty: by `runtimes`
  runtime::RuntimeSends sends{};  // the same
  std::int64_t namespace_cache_mib = 0;

  void SetUp() override {
    for (const char* node : {"node-0", "node-1"}) {
      ASSERT_TRUE(server.create(
          kinds::kNodes, {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", node}}}}));
    }
  }
  void create_set(const Json& source = {{"uri", "s3://b/images"}}, int partitions = 2,
                  const std::string& name = kKey.name) {
    ASSERT_TRUE(server.create(kinds::kSampleSets,
                              {{"apiVersion", api::SampleSet::kApiVersion},
                               {"kind", api::SampleSet::kKind},
                               {"metadata", {{"namespace", kKey.ns}, {"name", name}}},
                               {"spec", {{"partitions", partitions}, {"source", source}}}}));
  }
  // With the engine that needs everything, its driver and its Secret.
  void create_set_with_secret(const std::string& name) {
    (void)server.create(kinds::kSecrets, {{"apiVersion", "v1"},
                                          {"kind", "Secret"},
                                          {"metadata", {{"namespace", kKey.ns}, {"name", "keys"}}},
                                          {"data", {{"metaurl", base64_encode("redis://one")}}}});
    (void)server.create(kinds::kCsiDrivers,
                        {{"apiVersion", kinds::kCsiDrivers.api_version()},
                         {"kind", kinds::kCsiDrivers.kind},
                         {"metadata", {{"name", SharedVolumeEngine::kDriver}}}});
    ASSERT_TRUE(server.create(
        kinds::kSampleSets,
        {{"apiVersion", api::SampleSet::kApiVersion},
         {"kind", api::SampleSet::kKind},
         {"metadata", {{"namespace", kKey.ns}, {"name", name}}},
         {"spec", {{"partitions", 2}, {"noSync", true}, {"secretRef", {{"name", "keys"}}}}}}));
  }
  std::string volume_name() {
    std::string name;
    EXPECT_TRUE(server.list(kinds::kPersistentVolumes, {}, [&](std::string_view text) -> Result<> {
      name = Json::parse(text)["metadata"]["name"];
      return Done{};
    }));
    return name;
  }
  void remove_volumes() {
    std::vector<std::string> names;
    EXPECT_TRUE(server.list(kinds::kPersistentVolumes, {}, [&](std::string_view text) -> Result<> {
      names.push_back(Json::parse(text)["metadata"]["name"]);
      return Done{};
    }));
    for (const auto& name : names) {
      EXPECT_TRUE(server.remove(kinds::kPersistentVolumes, {"", name}));
    }
  }
  std::unique_ptr<Manager> make(kube::Cluster& cluster, const std::string& ns = {}) {
    auto made = Manager::make(cluster, {.metrics_address = "0", .health_address = "0"}, metrics);
    EXPECT_TRUE(made);
    Options options{.ns = ns,
                    .config = model_config(),
                    .polls = polls ? polls : runtime::polls_by(runtimes.clients()),
                    .sends = sends ? sends : runtime::sends_by(runtimes.clients())};
    options.config.secrets = {.missing = 10ms, .in_trouble = 10ms, .usual = 10ms};
    options.config.namespace_cache_mib = namespace_cache_mib;
    options.config.polls = {.always = 10ms, .warming_up = 10ms, .syncing = 10ms};
    const ControllerSpec spec{.name = kControllerName, .limits = {.longest_pause = 100ms}};
    EXPECT_TRUE((*made)->add(spec, [&](const ControllerContext& context) {
      return make_reconciler(context, options, system_clock());
    }));
    return *std::move(made);
  }
  std::string phase() {
    const auto set = server.get(kinds::kSampleSets, kKey);
    return set ? set->value("/status/phase"_json_pointer, std::string()) : "(gone)";
  }
  Json condition(const std::string& type) {
    const auto set = server.get(kinds::kSampleSets, kKey);
    if (!set) return Json::object();
    for (const Json& each : set->value("/status/conditions"_json_pointer, Json::array())) {
      if (each["type"] == type) return each;
    }
    return Json::object();
  }
  void tolerate(const Json& tolerations) {
    ASSERT_TRUE(server.patch(kinds::kSampleSets, kKey,
                             {.body = {{"spec", {{"tolerations", tolerations}}}}}));
  }
  size_t count(const kube::Resource& resource) {
    size_t found = 0;
    EXPECT_TRUE(server.list(resource, {}, [&](std::string_view) -> Result<> {
      ++found;
      return Done{};
    }));
    return found;
  }
  // Creates a set, waits for Ready, deletes it, and expects that nothing is left.
  void live(kube::Cluster& cluster) {
    create_set();
    auto manager = make(cluster);
    RestOfTheCluster rest(server);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return phase() == "Ready"; });
    EXPECT_EQ(runtimes.tokens().size(), 1u);
    EXPECT_GE(runtimes.tokens().begin()->size(), 32u);
    until([&] { return runtimes.jobs_of("10.0.0.2").size() == 2; });  // sync and warm-up
    const auto node = server.get(kinds::kNodes, {"", "node-1"});
    ASSERT_TRUE(node);
    EXPECT_EQ((*node)["metadata"]["labels"]["paddlepaddle.org/samplefs-imagenet"],
              "imagenet-runtime-1");

    ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
    EXPECT_EQ(phase(), "(gone)");  // at once: it has no finalizer
    until([&] { return count(kinds::kPersistentVolumes) == 0; });
    for (const auto& resource : {kinds::kPersistentVolumes, kinds::kClaims, kinds::kServices,
                                 kinds::kStatefulSets, kinds::kSecrets, kinds::kPods}) {
      EXPECT_EQ(count(resource), 0u) << resource.kind;
    }
    EXPECT_FALSE(
        server.get(kinds::kNodes, {"", "node-1"})
            ->contains("/metadata/labels/paddlepaddle.org~1samplefs-imagenet"_json_pointer));
    running.request_stop();
  }
};

TEST_F(SampleSetReconcilerTest, BringsASetToReadyAndDeletesItAgain) { live(server); }

TEST_F(SampleSetReconcilerTest, BringsASetToReadyAndDeletesItWhenEveryCallFailsOnce) {
  kube::FailingCluster failing(server, kube::faults::each_once({}));
  live(failing);
  EXPECT_GT(failing.injected(), 10u);
}

TEST_F(SampleSetReconcilerTest, BringsASetToReadyAndDeletesItWhenAnswersAreLost) {
  kube::FailingCluster failing(server, kube::faults::random(7, 0.2));
  live(failing);
  EXPECT_GT(failing.injected(), 5u);
}

// Without its volume a deleted set is forgotten, and its labels would stay for ever.
TEST_F(SampleSetReconcilerTest, KeepsTheVolumeUntilTheLabelsOfItsNodesAreRemoved) {
  kube::FailingCluster failing(server, kube::faults::none());
  create_set();
  auto manager = make(failing);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Ready"; });
  failing.set_policy([](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
    const bool labels = request.verb == kube::Verb::kPatch && request.resource == kinds::kNodes;
    return labels ? std::optional(kube::Fault{.code = Code::kUnavailable}) : std::nullopt;
  });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
  until([&] { return count(kinds::kClaims) == 0; });
  const size_t before = failing.injected();
  until([&] { return failing.injected() > before + 4; });
  EXPECT_EQ(count(kinds::kPersistentVolumes), 1u);
  failing.set_policy(kube::faults::none());
  until([&] { return count(kinds::kPersistentVolumes) == 0; });
  EXPECT_FALSE(server.get(kinds::kNodes, {"", "node-1"})
                   ->contains("/metadata/labels/paddlepaddle.org~1samplefs-imagenet"_json_pointer));
  running.request_stop();
}

// The rest goes on, and the status shows what was rejected.
TEST_F(SampleSetReconcilerTest, GoesOnWhereNodesMayNotBeLabelled) {
  for (const Code code : {Code::kForbidden, Code::kInvalid}) {
    const auto policy = [code](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
      const bool labels = request.verb == kube::Verb::kPatch && request.resource == kinds::kNodes;
      return labels ? std::optional(kube::Fault{.code = code}) : std::nullopt;
    };
    kube::FailingCluster strict(server, policy);
    const auto degraded = [&] { return condition("Degraded"); };
    create_set();
    auto manager = make(strict);
    RestOfTheCluster rest(server);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return phase() == "Ready" && degraded().value("reason", "") == "ActionRefused"; });
    EXPECT_NE(degraded()["message"].get<std::string>().find("label node"), std::string::npos);
    strict.set_policy(kube::faults::none());
    until([&] { return degraded().value("status", "") == "False"; });
    ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
    until([&] { return count(kinds::kPersistentVolumes) == 0; });
    running.request_stop();
  }
}

// A template that the server rejects, for any reason.
TEST_F(SampleSetReconcilerTest, ARejectedPatchIsReportedAndStopsNothingElse) {
  for (const Code code : {Code::kInvalid, Code::kForbidden, Code::kInternal}) {
    kube::FailingCluster strict(server, kube::faults::none());
    create_set();
    auto manager = make(strict);
    RestOfTheCluster rest(server);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return phase() == "Ready"; });
    strict.set_policy([code](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
      const bool hit =
          request.verb == kube::Verb::kPatch && request.resource == kinds::kStatefulSets;
      return hit ? std::optional(kube::Fault{.code = code}) : std::nullopt;
    });
    tolerate(Json::array({{{"key", "gpu"}, {"operator", "Exists"}, {"value", "x"}}}));
    until([&] { return condition("Degraded").value("reason", "") == "ActionRefused"; });
    EXPECT_NE(condition("Degraded")["message"].get<std::string>().find(
                  "change StatefulSet imagenet-runtime"),
              std::string::npos);
    until([&] {
      const Json set = *server.get(kinds::kSampleSets, kKey);
      return set["status"]["observedGeneration"] == set["metadata"]["generation"];
    });
    // The rest goes on: a label that a user removes is restored.
    const std::string label = "paddlepaddle.org/samplefs-imagenet";
    ASSERT_TRUE(server.patch(kinds::kNodes, {"", "node-0"},
                             {.body = {{"metadata", {{"labels", {{label, nullptr}}}}}}}));
    until([&] { return server.get(kinds::kNodes, {"", "node-0"})->dump().find(label) != kNpos; });
    EXPECT_EQ(phase(), "Ready");
    // With the previous spec there is nothing to reject, although the rule stays.
    tolerate(nullptr);
    until([&] { return condition("Degraded").value("status", "") == "False"; });
    // Rejected again, and then the rule is removed.
    tolerate(Json::array({{{"key", "gpu"}, {"operator", "Exists"}}}));
    until([&] { return condition("Degraded").value("reason", "") == "ActionRefused"; });
    strict.set_policy(kube::faults::none());
    until([&] {
      return condition("Degraded").value("status", "") == "False" &&
             (*server.get(kinds::kStatefulSets, kRuntimes))["spec"]["template"]["spec"].contains(
                 "tolerations");
    });
    // The StatefulSet loses what the spec no longer has.
    tolerate(nullptr);
    until([&] {
      return !(*server.get(kinds::kStatefulSets, kRuntimes))["spec"]["template"]["spec"].contains(
          "tolerations");
    });
    ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
    until([&] { return count(kinds::kPersistentVolumes) == 0; });
    running.request_stop();
  }
}

TEST_F(SampleSetReconcilerTest, ARejectedCreationPreventsNoOtherCreation) {
  const auto refuse = [](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
    const bool hit = request.verb == kube::Verb::kCreate && request.resource != kinds::kEvents &&
                     request.resource != kinds::kStatefulSets;
    return hit ? std::optional(kube::Fault{.code = Code::kInvalid}) : std::nullopt;
  };
  kube::FailingCluster strict(server, refuse);
  create_set();
  auto manager = make(strict);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return condition("Ready").value("reason", "") == "ErrorCreateSecret"; });
  until([&] { return count(kinds::kStatefulSets) == 1; });
  for (const auto& resource : {kinds::kSecrets, kinds::kPersistentVolumes, kinds::kClaims}) {
    EXPECT_EQ(count(resource), 0u) << resource.kind;
  }
  strict.set_policy(kube::faults::none());
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

// Pod security, a quota or a LimitRange: only events say so.
TEST_F(SampleSetReconcilerTest, ReportsWhyTheRuntimesPodsCannotBeCreated) {
  const std::string why =
      "pods \"imagenet-runtime-0\" is forbidden: violates PodSecurity \"baseline:latest\"";
  create_set();
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return bool(server.get(kinds::kStatefulSets, kRuntimes)); });
  const Json set = *server.get(kinds::kStatefulSets, kRuntimes);
  const auto event = [&](const std::string& name, const Json& uid, const std::string& message) {
    ASSERT_TRUE(
        server.create(kinds::kEvents, {{"apiVersion", "v1"},
                                       {"kind", "Event"},
                                       {"metadata", {{"namespace", kKey.ns}, {"name", name}}},
                                       {"involvedObject",
                                        {{"kind", "StatefulSet"},
                                         {"namespace", kKey.ns},
                                         {"name", kRuntimes.name},
                                         {"uid", uid}}},
                                       {"reason", "FailedCreate"},
                                       {"lastTimestamp", "2030-01-01T00:00:00Z"},
                                       {"message", message}}));
  };
  event("old", "of another", "create Pod x failed error: of a StatefulSet that is gone");
  event("new", set["metadata"]["uid"],
        "create Pod imagenet-runtime-0 in StatefulSet imagenet-runtime failed error: " + why);
  until([&] { return condition("RuntimeReady").value("reason", "") == "FailedCreate"; });
  EXPECT_EQ(condition("RuntimeReady")["message"],
            "0 of 2 runtimes are ready; the cluster refuses their pods: " + why);
  RestOfTheCluster rest(server);  // the namespace allows it now
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

// Of sets with many runtimes, whose progress moves with every poll.
TEST_F(SampleSetReconcilerTest, ProgressIsWrittenAtMostEveryFiveSeconds) {
  runtimes.work_for_ever();
  for (const int partitions : {8, 64}) {
    std::atomic<int> writes = 0;
    const auto count_writes = [&](const kube::Request& request,
                                  size_t) -> std::optional<kube::Fault> {
      writes += request.verb == kube::Verb::kUpdate && request.resource == kinds::kSampleSets &&
                request.sub == "status";
      return std::nullopt;
    };
    kube::FailingCluster counting(server, count_writes);
    create_set({{"uri", "s3://b/images"}}, partitions);
    auto manager = make(counting);
    auto rest = std::make_unique<RestOfTheCluster>(server);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return phase() == "Syncing"; });
    const std::string last = "10.0.0." + std::to_string(partitions);
    until([&] { return !runtimes.jobs_of(last).empty(); });
    rest.reset();
    const int polls_before = runtimes.polled_jobs();
    const int writes_before = writes;
    const BootTime start = system_clock().boot();
    until([&] { return runtimes.polled_jobs() > polls_before + 20 * partitions; });
    const auto intervals = (system_clock().boot() - start) / 5s;
    EXPECT_LE(writes - writes_before, intervals + 2) << partitions << " runtimes";
    running.request_stop();
    running.join();
    manager.reset();
    ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
    rest = std::make_unique<RestOfTheCluster>(server);
    until([&] { return count(kinds::kPods) == 0; });
  }
}

// One worker; one runtime does not answer at all.
TEST_F(SampleSetReconcilerTest, NoPassWaitsForARuntime) {
  Mutex mutex;
  std::vector<std::function<void()>> unanswered;
  std::atomic<bool> dead = true;
  const auto answered = runtime::polls_by(runtimes.clients());
  polls = [&](const runtime::PollCall& call, const runtime::PollDone& done) {
    if (!dead || call.address != "10.0.0.3") return answered(call, done);
    Lock lock(mutex);
    unanswered.push_back([&answered, call, done] { answered(call, done); });
  };
  create_set({{"uri", "s3://b/images"}}, 3);
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    Lock lock(mutex);
    return !unanswered.empty();
  });
  create_set({{"uri", "s3://b/others"}}, 2, "another");
  until([&] {
    const auto set = server.get(kinds::kSampleSets, {kKey.ns, "another"});
    return set->value("/status/phase"_json_pointer, "") == std::string("Ready");
  });
  EXPECT_NE(phase(), "Ready");
  dead = false;
  {
    Lock lock(mutex);
    for (const auto& answer : unanswered) answer();
  }
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

// One worker; one runtime answers polls, but takes no job.
TEST_F(SampleSetReconcilerTest, NoPassWaitsUntilARuntimeHasTakenItsJob) {
  Mutex mutex;
  std::vector<std::pair<runtime::JobCall, runtime::SendDone>> unanswered;
  std::atomic<bool> dead = true;
  const auto answered = runtime::sends_by(runtimes.clients());
  sends = [&](const runtime::JobCall& call, const runtime::SendDone& done) {
    if (!dead || call.address != "10.0.0.2") return answered(call, done);
    Lock lock(mutex);
    unanswered.emplace_back(call, done);
  };
  create_set();
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    Lock lock(mutex);
    return !unanswered.empty();
  });
  create_set({{"uri", "s3://b/others"}}, 1, "another");
  until([&] {
    const auto set = server.get(kinds::kSampleSets, {kKey.ns, "another"});
    return set->value("/status/phase"_json_pointer, "") == std::string("Ready");
  });
  EXPECT_NE(phase(), "Ready");
  dead = false;
  {
    Lock lock(mutex);
    EXPECT_EQ(unanswered.size(), 1u) << "sent again while it was in progress";
    unanswered[0].second(Error{Code::kDeadline, "no answer in time"});
  }
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

// An orphan does not delay another set of its name.
TEST_F(SampleSetReconcilerTest, ARejectedDeletionStopsNothingElse) {
  const auto refuse = [](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
    const bool hit =
        request.verb == kube::Verb::kRemove && request.resource == kinds::kPersistentVolumes;
    return hit ? std::optional(kube::Fault{.code = Code::kInvalid}) : std::nullopt;
  };
  kube::FailingCluster strict(server, refuse);
  create_set();
  auto manager = make(strict);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Ready"; });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
  until([&] { return count(kinds::kStatefulSets) == 0 && count(kinds::kClaims) == 0; });
  create_set();
  until([&] { return phase() == "Ready"; });
  EXPECT_EQ(count(kinds::kPersistentVolumes), 2u);
  strict.set_policy(kube::faults::none());
  until([&] { return count(kinds::kPersistentVolumes) == 1; });
  running.request_stop();
}

TEST_F(SampleSetReconcilerTest, BindsAClaimAgainThatAUserDeleted) {
  create_set();
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Ready"; });
  const std::string before = (*server.get(kinds::kClaims, kKey))["metadata"]["uid"];
  ASSERT_TRUE(server.remove(kinds::kClaims, kKey));
  until([&] {
    const auto claim = server.get(kinds::kClaims, kKey);
    return claim && (*claim)["metadata"]["uid"] != before &&
           claim->value("/status/phase"_json_pointer, "") == std::string("Bound");
  });
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

TEST_F(SampleSetReconcilerTest, LeavesAForeignClaimAloneAndReportsIt) {
  ASSERT_TRUE(server.create(kinds::kClaims,
                            {{"apiVersion", "v1"},
                             {"kind", "PersistentVolumeClaim"},
                             {"metadata", {{"namespace", "train"}, {"name", "imagenet"}}}}));
  create_set();
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    const auto set = server.get(kinds::kSampleSets, kKey);
    return set && set->dump().find("NameTaken") != std::string::npos;
  });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
  until([&] { return count(kinds::kPersistentVolumes) == 0; });
  EXPECT_EQ(count(kinds::kClaims), 1u);
  running.request_stop();
}

// Deleted while no operator ran: the next operator finds the volume, or only labels of nodes.
TEST_F(SampleSetReconcilerTest, DeletesOrphansOfSetsThatWereDeletedWithoutAnOperator) {
  for (const bool volume_left : {true, false}) {
    create_set();
    RestOfTheCluster rest(server);
    const auto labelled = [&] {
      const Json node = *server.get(kinds::kNodes, {"", "node-1"});
      return node["metadata"].contains("labels") && !node["metadata"]["labels"].empty();
    };
    {
      auto manager = make(server, "train");
      std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
      until([&] { return phase() == "Ready" && labelled(); });
    }
    ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
    until([&] { return count(kinds::kPods) == 0; });  // the garbage collector deletes them
    EXPECT_EQ(count(kinds::kPersistentVolumes), 1u);
    EXPECT_TRUE(labelled());
    if (!volume_left) remove_volumes();
    auto manager = make(server, "train");
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return !labelled() && count(kinds::kPersistentVolumes) == 0; });
  }
}

TEST_F(SampleSetReconcilerTest, LeavesVolumesOfOtherNamespacesAlone) {
  const Json theirs = {
      {"apiVersion", "v1"},
      {"kind", "PersistentVolume"},
      {"metadata",
       {{"name", "theirs"},
        {"labels", {{engine::kSetLabel, "imagenet"}}},
        {"annotations", {{engine::kSetUidAnnotation, "gone"}}}}},
      {"spec", {{"claimRef", {{"namespace", "elsewhere"}, {"name", "imagenet"}}}}}};
  ASSERT_TRUE(server.create(kinds::kPersistentVolumes, theirs));
  create_set();
  RestOfTheCluster rest(server);
  auto manager = make(server, "train");
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Ready"; });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
  until([&] { return count(kinds::kPersistentVolumes) == 1; });
  EXPECT_TRUE(server.get(kinds::kPersistentVolumes, {"", "theirs"}));
}

// It is deleted with the CRD when no operator runs.
TEST_F(SampleSetReconcilerTest, AVolumeIsOwnedByTheCrdOfSampleSets) {
  const auto definition =
      server.create(kinds::kCrds, {{"apiVersion", kinds::kCrds.api_version()},
                                   {"kind", kinds::kCrds.kind},
                                   {"metadata", {{"name", "samplesets.batch.paddlepaddle.org"}}}});
  ASSERT_TRUE(definition);
  create_set();
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return count(kinds::kStatefulSets) == 1; });
  EXPECT_TRUE(server.list(kinds::kPersistentVolumes, {}, [&](std::string_view text) -> Result<> {
    const Json volume = Json::parse(text);
    EXPECT_EQ(volume["metadata"]["ownerReferences"][0]["uid"], (*definition)["metadata"]["uid"]);
    return Done{};
  }));
}

// The right to watch Secrets is the right to read all of them.
TEST_F(SampleSetReconcilerTest, ReadsSecretsByNameOnly) {
  const auto refuse = [](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
    const bool lists = request.verb == kube::Verb::kList || request.verb == kube::Verb::kWatch;
    return lists && request.resource == kinds::kSecrets
               ? std::optional(kube::Fault{.code = Code::kForbidden})
               : std::nullopt;
  };
  kube::FailingCluster strict(server, refuse);
  live(strict);
  EXPECT_EQ(strict.injected(), 0u);
}

// Manifests of an older installation: its roles know nothing of that namespace.
TEST_F(SampleSetReconcilerTest, ReportsThatItMayNotWriteTheSecretOfTheDriver) {
  const auto refuse = [](const kube::Request& request, size_t) -> std::optional<kube::Fault> {
    return request.resource == kinds::kSecrets && request.key.ns == "paddle-volumes"
               ? std::optional(kube::Fault{.code = Code::kForbidden})
               : std::nullopt;
  };
  kube::FailingCluster strict(server, refuse);
  create_set_with_secret(kKey.name);
  auto manager = make(strict);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return condition("Ready").value("reason", "") == "ErrorCreateSecret"; });
  EXPECT_EQ(count(kinds::kStatefulSets), 0u);
  strict.set_policy(kube::faults::none());
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

TEST_F(SampleSetReconcilerTest, AnOlderSetUsesUpTheCacheOfItsNamespace) {
  namespace_cache_mib = 3 * 1024;
  create_set_with_secret("first");
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  const auto status_of = [&](const std::string& name, const char* path) {
    const auto set = server.get(kinds::kSampleSets, {kKey.ns, name});
    return set ? set->value(Json::json_pointer(path), std::string()) : "";
  };
  until([&] { return status_of("first", "/status/phase") == "Ready"; });
  EXPECT_EQ(status_of("first", "/status/cacheStatus/namespaceCache"), "2.0 GiB of 3.0 GiB");
  create_set_with_secret(kKey.name);
  until([&] { return condition("Ready").value("reason", "") == "CacheLimitExceeded"; });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, {kKey.ns, "first"}));
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

TEST_F(SampleSetReconcilerTest, ASourceWithTheSecretNameNoneNeedsNoSecret) {
  create_set({{"uri", "s3://b/images"}, {"secretRef", {{"name", "none"}}}});
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Ready"; });
  running.request_stop();
}

// With everything that an engine can need; each object appears after the set has reported that it
// is missing.
TEST_F(SampleSetReconcilerTest, GoesOnWhenWhatIsMissingAppears) {
  const auto reason = [&] {
    const Json set = *server.get(kinds::kSampleSets, kKey);
    for (const Json& each : set.value("/status/conditions"_json_pointer, Json::array())) {
      if (each["type"] == "Ready") return each["reason"].get<std::string>();
    }
    return std::string();
  };
  const auto secret = [&](const std::string& value) -> Json {
    return {{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata", {{"namespace", kKey.ns}, {"name", "keys"}}},
            {"data", {{"metaurl", base64_encode(value)}}}};
  };
  ASSERT_TRUE(server.create(
      kinds::kSampleSets,
      {{"apiVersion", api::SampleSet::kApiVersion},
       {"kind", api::SampleSet::kKind},
       {"metadata", {{"namespace", kKey.ns}, {"name", kKey.name}}},
       {"spec", {{"partitions", 2}, {"noSync", true}, {"secretRef", {{"name", "keys"}}}}}}));
  auto manager = make(server);
  RestOfTheCluster rest(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return reason() == "ErrorSecretNotExist"; });
  ASSERT_TRUE(server.create(kinds::kSecrets, secret("redis://one")));
  until([&] { return reason() == "CSIDriverMissing"; });
  EXPECT_EQ(count(kinds::kStatefulSets), 0u);
  ASSERT_TRUE(
      server.create(kinds::kCsiDrivers, {{"apiVersion", kinds::kCsiDrivers.api_version()},
                                         {"kind", kinds::kCsiDrivers.kind},
                                         {"metadata", {{"name", SharedVolumeEngine::kDriver}}}}));
  until([&] { return phase() == "Ready"; });
  EXPECT_EQ(count(kinds::kNetworkPolicies), 1u);
  // Neither syncs; both warm up.
  EXPECT_EQ(runtimes.jobs_of("10.0.0.1").size(), 1u);
  EXPECT_EQ(runtimes.jobs_of("10.0.0.2").size(), 1u);

  // A NetworkPolicy of an older operator is updated, too; fields of others stay.
  const ObjectKey policy{kKey.ns, "imagenet-runtime"};
  const Json good = *server.get(kinds::kNetworkPolicies, policy);
  ASSERT_TRUE(server.patch(
      kinds::kNetworkPolicies, policy,
      {.body = {{"metadata",
                 {{"labels", {{"theirs", "stays"}}},
                  {"annotations", {{"batch.paddlepaddle.org/made-from", "something else"}}}}},
                {"spec", {{"podSelector", {{"matchLabels", {{"old", "label"}}}}}}}}}));
  until([&] { return (*server.get(kinds::kNetworkPolicies, policy))["spec"] == good["spec"]; });
  EXPECT_EQ((*server.get(kinds::kNetworkPolicies, policy))["metadata"]["labels"]["theirs"],
            "stays");

  // The copy follows the Secret, and the volume is prepared again.
  const ObjectKey copy{kKey.ns, "imagenet-volume"};
  const auto copied = [&](const char* path) {
    return server.get(kinds::kSecrets, copy)->value(Json::json_pointer(path), std::string());
  };
  EXPECT_EQ(copied("/data/metaurl"), base64_encode("redis://one"));

  // What others write into a copy, or onto the claim, does not stay.
  const Json volume = *server.get(kinds::kPersistentVolumes, {"", volume_name()});
  const ObjectKey for_driver{"paddle-volumes", volume["metadata"]["name"]};
  for (const ObjectKey& each : {copy, for_driver}) {
    const Json before = *server.get(kinds::kSecrets, each);
    ASSERT_TRUE(server.patch(kinds::kSecrets, each,
                             {.body = {{"data", {{"metaurl", "eA=="}, {"configs", "eA=="}}}}}));
    until([&] { return (*server.get(kinds::kSecrets, each))["data"] == before["data"]; });
  }
  ASSERT_TRUE(
      server.patch(kinds::kClaims, kKey,
                   {.body = {{"metadata", {{"annotations", {{"juicefs/mount-image", "evil"}}}}}}}));
  until([&] { return server.get(kinds::kClaims, kKey)->dump().find("evil") == kNpos; });
  ASSERT_TRUE(server.update(kinds::kSecrets, secret("redis://two")));
  until([&] { return copied("/data/metaurl") == base64_encode("redis://two"); });
  until([&] {
    return copied("/metadata/annotations/batch.paddlepaddle.org~1prepared-with") ==
           copied("/metadata/annotations/batch.paddlepaddle.org~1copied-from");
  });
  ASSERT_TRUE(server.remove(kinds::kSampleSets, kKey));
  until([&] { return count(kinds::kPersistentVolumes) == 0; });
  EXPECT_EQ(count(kinds::kSecrets), 1u);  // that of the user
  EXPECT_EQ(count(kinds::kNetworkPolicies), 0u);
  EXPECT_EQ(count(kinds::kPods), 0u);
}

}  // namespace
}  // namespace paddle::controllers::sample_set
