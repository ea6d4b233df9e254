// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/cluster_suite.h"

#include <stop_token>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/random.h"

namespace paddle::kube {
namespace {

using namespace resources;

std::string text(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object.at(at).is_string() ? object.at(at).get<std::string>() : "";
}

std::string version_of(const Json& object) { return text(object, "/metadata/resourceVersion"); }

std::string brief(std::string_view object) {
  const auto parsed = api::parse_json(object);
  if (!parsed) return "unreadable";
  return text(*parsed, "/metadata/name") + "=" + text(*parsed, "/data/value");
}

std::string word(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
    case EventType::kBookmark:
      return "BOOKMARK";
  }
  return "?";
}

template <typename T>
std::string why(const Result<T>& result) {
  return result ? "done" : std::string(name(result.error().code)) + ": " + result.error().message;
}

}  // namespace

void ClusterSuite::SetUp() {
  cluster_ = GetParam().make();
  ASSERT_NE(cluster_, nullptr);
  ns_ = "suite-" + system_random().hex(8);
  const auto made = cluster_->create(
      kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns_}}}});
  ASSERT_TRUE(made) << why(made);
}

// Namespaces stay: deleting them needs a controller that a plain API server does not have.
void ClusterSuite::TearDown() { cluster_.reset(); }

Json ClusterSuite::config_map(const std::string& name, const std::string& value) const {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"namespace", ns_}, {"labels", {{"app", name}}}}},
          {"data", {{"value", value}}}};
}

Json ClusterSuite::pod(const std::string& name) const {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", ns_}}},
          {"spec",
           {{"automountServiceAccountToken", false},
            {"containers", {{{"name", "main"}, {"image", "example.org/none:1"}}}}}}};
}

Json ClusterSuite::paddle_job(const std::string& name, int workers) const {
  return {{"apiVersion", kPaddleJobs.api_version()},
          {"kind", "PaddleJob"},
          {"metadata", {{"name", name}, {"namespace", ns_}}},
          {"spec",
           {{"worker",
             {{"replicas", workers},
              {"template",
               {{"spec",
                 {{"containers", {{{"name", "main"}, {"image", "example.org/none:1"}}}}}}}}}}}}};
}

Json ClusterSuite::stored(const Resource& resource, const Json& object) {
  auto made = cluster_->create(resource, object);
  EXPECT_TRUE(made) << why(made);
  return made ? *std::move(made) : Json::object();
}

std::string ClusterSuite::listed(ListOptions options) {
  options.ns = ns_;
  std::string all;
  const auto version = cluster_->list(kConfigMaps, options, [&](std::string_view object) {
    // Servers put a root certificate into each namespace when a controller manager runs.
    if (const std::string one = brief(object); !one.starts_with("kube-root-ca.crt")) {
      all += (all.empty() ? "" : ",") + one;
    }
    return Result<>(Done{});
  });
  EXPECT_TRUE(version) << why(version);
  return all;
}

std::string ClusterSuite::watched(const std::string& version, size_t count, WatchOptions options) {
  options.ns = ns_;
  options.resource_version = version;
  std::string all;
  size_t seen = 0;
  const auto outcome = cluster_->watch(kConfigMaps, options, [&](const WatchEvent& event) {
    if (event.type == EventType::kBookmark) return Result<>(Done{});
    all += (all.empty() ? "" : ";") + word(event.type) + " " + brief(event.object);
    if (++seen < count) return Result<>(Done{});
    return Result<>(Error{Code::kCancelled, "enough"});
  });
  EXPECT_TRUE(outcome.is(Code::kCancelled)) << why(outcome);
  return all;
}

TEST_P(ClusterSuite, ACreatedObjectCanBeReadBackWithItsSystemFields) {
  const Json made = stored(kConfigMaps, config_map("a"));
  EXPECT_FALSE(text(made, "/metadata/uid").empty());
  EXPECT_FALSE(text(made, "/metadata/creationTimestamp").empty());
  EXPECT_FALSE(version_of(made).empty());
  const auto read = cluster_->get(kConfigMaps, {ns_, "a"});
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ(*read, made);
}

TEST_P(ClusterSuite, ACreateOfAnExistingNameIsRefused) {
  stored(kConfigMaps, config_map("a"));
  const auto again = cluster_->create(kConfigMaps, config_map("a", "2"));
  EXPECT_TRUE(again.is(Code::kAlreadyExists)) << why(again);
}

TEST_P(ClusterSuite, AMissingObjectIsNotFound) {
  EXPECT_TRUE(cluster_->get(kConfigMaps, {ns_, "none"}).is(Code::kNotFound));
  EXPECT_TRUE(cluster_->update(kConfigMaps, config_map("none")).is(Code::kNotFound));
  const auto patched = cluster_->patch(kConfigMaps, {ns_, "none"}, {.body = Json::object()});
  EXPECT_TRUE(patched.is(Code::kNotFound)) << why(patched);
  EXPECT_TRUE(cluster_->remove(kConfigMaps, {ns_, "none"}).is(Code::kNotFound));
}

TEST_P(ClusterSuite, GeneratedNamesDiffer) {
  Json object = config_map("ignored");
  object["metadata"].erase("name");
  object["metadata"]["generateName"] = "made-";
  const Json one = stored(kConfigMaps, object);
  const Json two = stored(kConfigMaps, object);
  EXPECT_TRUE(text(one, "/metadata/name").starts_with("made-"));
  EXPECT_NE(text(one, "/metadata/name"), text(two, "/metadata/name"));
}

TEST_P(ClusterSuite, ACreateRefusesBadNamesAndVersions) {
  const auto bad_name = cluster_->create(kConfigMaps, config_map("Not_A_Name"));
  EXPECT_TRUE(bad_name.is(Code::kInvalid)) << why(bad_name);
  Json with_version = config_map("a");
  with_version["metadata"]["resourceVersion"] = "1";
  const auto bad_version = cluster_->create(kConfigMaps, with_version);
  EXPECT_FALSE(bad_version) << "the real server calls it an internal error; refused it must be";
}

TEST_P(ClusterSuite, AnUpdateOfAnOldVersionIsAConflict) {
  const Json old = stored(kConfigMaps, config_map("a"));
  Json next = old;
  next["data"]["value"] = "2";
  const auto updated = cluster_->update(kConfigMaps, next);
  ASSERT_TRUE(updated) << why(updated);
  EXPECT_NE(version_of(*updated), version_of(old));
  next["data"]["value"] = "3";
  const auto late = cluster_->update(kConfigMaps, next);
  EXPECT_TRUE(late.is(Code::kConflict)) << why(late);
  EXPECT_EQ(listed(), "a=2");
}

TEST_P(ClusterSuite, AnUpdateWithoutVersionIsUnconditionalForConfigMapsAndRefusedForLeases) {
  stored(kConfigMaps, config_map("a"));
  const auto updated = cluster_->update(kConfigMaps, config_map("a", "2"));
  EXPECT_TRUE(updated) << why(updated);

  const Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", {{"name", "l"}, {"namespace", ns_}}},
                      {"spec", {{"holderIdentity", "me"}}}};
  stored(kLeases, lease);
  const auto refused = cluster_->update(kLeases, lease);
  EXPECT_TRUE(refused.is(Code::kInvalid)) << why(refused);
}

TEST_P(ClusterSuite, AnUpdateMeantForAnotherUidIsAConflict) {
  Json object = stored(kConfigMaps, config_map("a"));
  object["metadata"]["uid"] = "11111111-2222-3333-4444-555555555555";
  object["metadata"].erase("resourceVersion");
  const auto refused = cluster_->update(kConfigMaps, object);
  EXPECT_TRUE(refused.is(Code::kConflict)) << why(refused);
}

TEST_P(ClusterSuite, AnUpdateThatChangesNothingKeepsTheVersion) {
  const Json made = stored(kConfigMaps, config_map("a"));
  const auto same = cluster_->update(kConfigMaps, made);
  ASSERT_TRUE(same) << why(same);
  EXPECT_EQ(version_of(*same), version_of(made));
}

TEST_P(ClusterSuite, AMergePatchChangesWhatItNamesAndRemovesNulls) {
  stored(kConfigMaps, config_map("a"));
  const Json body = {{"data", {{"value", nullptr}, {"other", "x"}}}};
  const auto patched = cluster_->patch(kConfigMaps, {ns_, "a"}, {.body = body});
  ASSERT_TRUE(patched) << why(patched);
  EXPECT_EQ((*patched)["data"], Json({{"other", "x"}}));
  EXPECT_EQ(text(*patched, "/metadata/labels/app"), "a");
}

TEST_P(ClusterSuite, AMergePatchWithAnOldVersionIsAConflict) {
  const Json made = stored(kConfigMaps, config_map("a"));
  ASSERT_TRUE(cluster_->update(kConfigMaps, config_map("a", "2")));
  const Json body = {{"metadata", {{"resourceVersion", version_of(made)}}},
                     {"data", {{"value", "3"}}}};
  const auto late = cluster_->patch(kConfigMaps, {ns_, "a"}, {.body = body});
  EXPECT_TRUE(late.is(Code::kConflict)) << why(late);
}

TEST_P(ClusterSuite, AJsonPatchAppliesInOrderOrNotAtAll) {
  stored(kConfigMaps, config_map("a"));
  const Json good = Json::array({{{"op", "test"}, {"path", "/data/value"}, {"value", "1"}},
                                 {{"op", "replace"}, {"path", "/data/value"}, {"value", "2"}},
                                 {{"op", "add"}, {"path", "/data/more"}, {"value", "y"}}});
  const auto patched =
      cluster_->patch(kConfigMaps, {ns_, "a"}, {.type = PatchType::kJson, .body = good});
  ASSERT_TRUE(patched) << why(patched);
  EXPECT_EQ((*patched)["data"], Json({{"value", "2"}, {"more", "y"}}));
  const auto refused =
      cluster_->patch(kConfigMaps, {ns_, "a"}, {.type = PatchType::kJson, .body = good});
  EXPECT_TRUE(refused.is(Code::kInvalid)) << why(refused);
  EXPECT_EQ(listed(), "a=2");
}

// What a merge cannot do: keys that the new value does not have are removed.
TEST_P(ClusterSuite, AJsonPatchReplacesAWholeValueInTheVersionThatItNames) {
  const Json made = stored(kConfigMaps, config_map("a"));
  const auto replace = [&](const Json& value) {
    const Json body = Json::array(
        {{{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", version_of(made)}},
         {{"op", "add"}, {"path", "/data"}, {"value", value}}});
    return cluster_->patch(kConfigMaps, {ns_, "a"}, {.type = PatchType::kJson, .body = body});
  };
  const auto first = replace({{"other", "x"}});
  ASSERT_TRUE(first) << why(first);
  EXPECT_EQ((*first)["data"], Json({{"other", "x"}}));
  const auto late = replace({{"value", "3"}});
  EXPECT_TRUE(late.is(Code::kConflict)) << why(late);
}

TEST_P(ClusterSuite, ServerSideApplyCreatesSharesAndRefusesToTakeOver) {
  const auto apply = [&](const std::string& manager, const Json& data, bool force = false) {
    return cluster_->patch(kConfigMaps, {ns_, "a"},
                           {.type = PatchType::kApply,
                            .body = {{"apiVersion", "v1"},
                                     {"kind", "ConfigMap"},
                                     {"metadata", {{"name", "a"}, {"namespace", ns_}}},
                                     {"data", data}},
                            .field_manager = manager,
                            .force = force});
  };
  const auto made = apply("one", {{"value", "1"}, {"mine", "x"}});
  ASSERT_TRUE(made) << why(made);
  const auto shared = apply("two", {{"theirs", "y"}});
  ASSERT_TRUE(shared) << why(shared);
  EXPECT_EQ((*shared)["data"], Json({{"value", "1"}, {"mine", "x"}, {"theirs", "y"}}));

  const auto refused = apply("two", {{"value", "2"}, {"theirs", "y"}});
  EXPECT_TRUE(refused.is(Code::kConflict)) << why(refused);
  const auto forced = apply("two", {{"value", "2"}, {"theirs", "y"}}, true);
  ASSERT_TRUE(forced) << why(forced);
  EXPECT_EQ((*forced)["data"], Json({{"value", "2"}, {"mine", "x"}, {"theirs", "y"}}));

  const auto dropped = apply("one", {{"value", "2"}});  // no manager sets "mine" any more
  ASSERT_TRUE(dropped) << why(dropped);
  EXPECT_EQ((*dropped)["data"], Json({{"value", "2"}, {"theirs", "y"}}));
}

TEST_P(ClusterSuite, ServerSideApplyConflictsWithFieldsOfPlainWrites) {
  stored(kConfigMaps, config_map("a", "1"));
  const auto apply = [&](const std::string& value) {
    return cluster_->patch(kConfigMaps, {ns_, "a"},
                           {.type = PatchType::kApply,
                            .body = {{"apiVersion", "v1"},
                                     {"kind", "ConfigMap"},
                                     {"metadata", {{"name", "a"}, {"namespace", ns_}}},
                                     {"data", {{"value", value}}}},
                            .field_manager = "applier"});
  };
  const auto same = apply("1");
  EXPECT_TRUE(same) << why(same);
  const auto other = apply("2");
  EXPECT_TRUE(other.is(Code::kConflict)) << why(other);
}

TEST_P(ClusterSuite, DeletionHonoursItsPreconditions) {
  const Json made = stored(kConfigMaps, config_map("a"));
  const auto wrong_uid =
      cluster_->remove(kConfigMaps, {ns_, "a"}, {.uid = "11111111-2222-3333-4444-555555555555"});
  EXPECT_TRUE(wrong_uid.is(Code::kConflict)) << why(wrong_uid);
  const auto wrong_version = cluster_->remove(kConfigMaps, {ns_, "a"}, {.resource_version = "1"});
  EXPECT_TRUE(wrong_version.is(Code::kConflict)) << why(wrong_version);
  const auto right =
      cluster_->remove(kConfigMaps, {ns_, "a"},
                       {.uid = text(made, "/metadata/uid"), .resource_version = version_of(made)});
  EXPECT_TRUE(right) << why(right);
  EXPECT_EQ(listed(), "");
}

TEST_P(ClusterSuite, FinalizersKeepADeletedObjectUntilTheLastIsRemoved) {
  Json object = config_map("a");
  object["metadata"]["finalizers"] = {"example.org/hold"};
  stored(kConfigMaps, object);
  ASSERT_TRUE(cluster_->remove(kConfigMaps, {ns_, "a"}));
  auto held = cluster_->get(kConfigMaps, {ns_, "a"});
  ASSERT_TRUE(held) << why(held);
  EXPECT_FALSE(text(*held, "/metadata/deletionTimestamp").empty());
  EXPECT_TRUE(cluster_->remove(kConfigMaps, {ns_, "a"})) << "deleting it again changes nothing";

  Json another = *held;
  another["metadata"]["finalizers"].push_back("example.org/more");
  const auto refused = cluster_->update(kConfigMaps, another);
  EXPECT_TRUE(refused.is(Code::kInvalid)) << why(refused);

  const Json release = {{"metadata", {{"finalizers", nullptr}}}};
  const auto released = cluster_->patch(kConfigMaps, {ns_, "a"}, {.body = release});
  EXPECT_TRUE(released) << why(released);
  EXPECT_TRUE(cluster_->get(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));
}

TEST_P(ClusterSuite, StatusAndSpecAreWrittenApart) {
  const Json made = stored(kPods, pod("p"));
  Json through_status = made;
  through_status["status"]["phase"] = "Running";
  through_status["spec"]["containers"][0]["image"] = "example.org/other:1";
  const auto status = cluster_->update(kPods, through_status, "status");
  ASSERT_TRUE(status) << why(status);
  EXPECT_EQ(text(*status, "/status/phase"), "Running");
  EXPECT_EQ(text(*status, "/spec/containers/0/image"), "example.org/none:1");

  Json through_main = *status;
  through_main["status"]["phase"] = "Failed";
  through_main["spec"]["containers"][0]["image"] = "example.org/other:2";
  const auto main = cluster_->update(kPods, through_main);
  ASSERT_TRUE(main) << why(main);
  EXPECT_EQ(text(*main, "/status/phase"), "Running");
  EXPECT_EQ(text(*main, "/spec/containers/0/image"), "example.org/other:2");
}

TEST_P(ClusterSuite, APodWithoutANodeIsRemovedImmediately) {
  stored(kPods, pod("p"));
  ASSERT_TRUE(cluster_->remove(kPods, {ns_, "p"}));
  EXPECT_TRUE(cluster_->get(kPods, {ns_, "p"}).is(Code::kNotFound));
}

TEST_P(ClusterSuite, APodOnANodeHasAGracePeriod) {
  Json object = pod("p");
  object["spec"]["nodeName"] = "somewhere";
  object["spec"]["terminationGracePeriodSeconds"] = 70;
  stored(kPods, object);
  ASSERT_TRUE(cluster_->remove(kPods, {ns_, "p"}));
  const auto ending = cluster_->get(kPods, {ns_, "p"});
  ASSERT_TRUE(ending) << why(ending);
  EXPECT_EQ(ending->at("metadata").at("deletionGracePeriodSeconds"), 70);
  const auto first = parse_rfc3339(text(*ending, "/metadata/deletionTimestamp"));
  ASSERT_TRUE(first) << first.error().message;

  ASSERT_TRUE(cluster_->remove(kPods, {ns_, "p"}, {.grace_seconds = 5}));
  const auto hurried = cluster_->get(kPods, {ns_, "p"});
  ASSERT_TRUE(hurried) << why(hurried);
  EXPECT_EQ(hurried->at("metadata").at("deletionGracePeriodSeconds"), 5);
  const auto second = parse_rfc3339(text(*hurried, "/metadata/deletionTimestamp"));
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(*first - *second, std::chrono::seconds{65});

  ASSERT_TRUE(cluster_->remove(kPods, {ns_, "p"}, {.grace_seconds = 0}));
  EXPECT_TRUE(cluster_->get(kPods, {ns_, "p"}).is(Code::kNotFound));
}

TEST_P(ClusterSuite, ListsInPagesTheWholeSet) {
  std::string all;
  for (int i = 10; i < 35; ++i) {
    stored(kConfigMaps, config_map("m" + std::to_string(i)));
    all += (all.empty() ? "m" : ",m") + std::to_string(i) + "=1";
  }
  EXPECT_EQ(listed({.page_size = 7}), all);
  EXPECT_EQ(listed({.page_size = 0}), all);
}

TEST_P(ClusterSuite, ASinkThatFailsEndsTheList) {
  for (int i = 0; i < 5; ++i) stored(kConfigMaps, config_map("m" + std::to_string(i)));
  int seen = 0;
  const auto outcome =
      cluster_->list(kConfigMaps, {.ns = ns_, .page_size = 2}, [&](std::string_view) -> Result<> {
        if (++seen == 3) return Error{Code::kInternal, "mine"};
        return Done{};
      });
  EXPECT_TRUE(outcome.is(Code::kInternal)) << why(outcome);
  EXPECT_EQ(seen, 3);
}

TEST_P(ClusterSuite, LabelSelectorsSelectObjects) {
  for (const char* name : {"a", "b", "c"}) stored(kConfigMaps, config_map(name));
  EXPECT_EQ(listed({.label_selector = "app=b"}), "b=1");
  EXPECT_EQ(listed({.label_selector = "app!=b,app"}), "a=1,c=1");
  EXPECT_EQ(listed({.label_selector = "app in (a, c)"}), "a=1,c=1");
  EXPECT_EQ(listed({.label_selector = "app,app notin (a,c)"}), "b=1");
  EXPECT_EQ(listed({.label_selector = "!app"}), "");
  const auto bad = cluster_->list(kConfigMaps, {.ns = ns_, .label_selector = "app in"},
                                  [](std::string_view) -> Result<> { return Done{}; });
  EXPECT_TRUE(bad.is(Code::kInvalid)) << why(bad);
}

TEST_P(ClusterSuite, FieldSelectorsSelectObjects) {
  for (const char* name : {"a", "b"}) stored(kConfigMaps, config_map(name));
  EXPECT_EQ(listed({.field_selector = "metadata.name=b"}), "b=1");
  const auto bad = cluster_->list(kConfigMaps, {.ns = ns_, .field_selector = "data.value=1"},
                                  [](std::string_view) -> Result<> { return Done{}; });
  EXPECT_TRUE(bad.is(Code::kInvalid)) << why(bad);
}

TEST_P(ClusterSuite, MetadataOnlyReadsReturnNothingElse) {
  const Json first = stored(kConfigMaps, config_map("a"));
  stored(kConfigMaps, config_map("b"));
  ASSERT_TRUE(cluster_->remove(kConfigMaps, {ns_, "b"}));
  EXPECT_EQ(listed({.metadata_only = true}), "a=");
  EXPECT_EQ(watched(version_of(first), 2, {.metadata_only = true}), "ADDED b=;DELETED b=");
}

TEST_P(ClusterSuite, AWatchShowsEveryChangeAfterItsVersionInOrder) {
  const Json first = stored(kConfigMaps, config_map("a"));
  stored(kConfigMaps, config_map("b"));
  ASSERT_TRUE(cluster_->update(kConfigMaps, config_map("a", "2")));
  ASSERT_TRUE(cluster_->remove(kConfigMaps, {ns_, "b"}));
  EXPECT_EQ(watched(version_of(first), 3), "ADDED b=1;MODIFIED a=2;DELETED b=1");
}

TEST_P(ClusterSuite, AWatchFromAListMissesNothing) {
  stored(kConfigMaps, config_map("a"));
  const auto version =
      cluster_->list(kConfigMaps, {.ns = ns_}, [](std::string_view) -> Result<> { return Done{}; });
  ASSERT_TRUE(version) << why(version);
  ASSERT_TRUE(cluster_->update(kConfigMaps, config_map("a", "2")));
  EXPECT_EQ(watched(*version, 1), "MODIFIED a=2");
}

TEST_P(ClusterSuite, AnObjectThatLeavesTheSelectionIsShownAsDeleted) {
  const Json made = stored(kConfigMaps, config_map("a"));
  Json other = config_map("a", "2");
  other["metadata"]["labels"]["app"] = "other";
  ASSERT_TRUE(cluster_->update(kConfigMaps, other));
  ASSERT_TRUE(cluster_->update(kConfigMaps, config_map("a", "3")));
  EXPECT_EQ(watched(version_of(made), 2, {.label_selector = "app=a"}), "DELETED a=1;ADDED a=3");
}

TEST_P(ClusterSuite, ADeletionIsShownWithAVersionOfItsOwn) {
  const Json made = stored(kConfigMaps, config_map("a"));
  ASSERT_TRUE(cluster_->remove(kConfigMaps, {ns_, "a"}));
  std::string version;
  const auto outcome =
      cluster_->watch(kConfigMaps, {.ns = ns_, .resource_version = version_of(made)},
                      [&](const WatchEvent& event) -> Result<> {
                        version = version_of(*api::parse_json(event.object));
                        return Error{Code::kCancelled, "enough"};
                      });
  EXPECT_TRUE(outcome.is(Code::kCancelled)) << why(outcome);
  EXPECT_GT(std::stoull(version), std::stoull(version_of(made)));
}

TEST_P(ClusterSuite, AWatchEndsAfterItsTimeout) {
  const Json made = stored(kConfigMaps, config_map("a"));
  const auto outcome = cluster_->watch(
      kConfigMaps,
      {.ns = ns_, .resource_version = version_of(made), .timeout = std::chrono::seconds(1)},
      [](const WatchEvent&) -> Result<> { return Done{}; });
  EXPECT_TRUE(outcome) << why(outcome);
}

TEST_P(ClusterSuite, AWatchCanBeStoppedByItsToken) {
  const Json made = stored(kConfigMaps, config_map("a"));
  std::stop_source stop;
  Result<> outcome = Done{};
  std::jthread watcher([&] {
    outcome = cluster_->watch(kConfigMaps, {.ns = ns_, .resource_version = version_of(made)},
                              [](const WatchEvent&) -> Result<> { return Done{}; },
                              {.stop = stop.get_token()});
  });
  stop.request_stop();
  watcher.join();
  EXPECT_TRUE(outcome.is(Code::kCancelled)) << why(outcome);
}

// A target whose server answers from a cache after a compaction must switch that cache off.
TEST_P(ClusterSuite, AVersionThatWasCompactedHasExpired) {
  if (!GetParam().compact) GTEST_SKIP() << "the target has no way to forget its history";
  stored(kConfigMaps, config_map("a"));
  GetParam().compact(*cluster_);
  const auto outcome = cluster_->watch(
      kConfigMaps, {.ns = ns_, .resource_version = "1", .timeout = std::chrono::seconds(20)},
      [](const WatchEvent&) -> Result<> { return Done{}; });
  EXPECT_TRUE(outcome.is(Code::kExpired)) << why(outcome);
}

TEST_P(ClusterSuite, ACallAfterAStopIsCancelled) {
  std::stop_source stop;
  stop.request_stop();
  const auto got = cluster_->get(kConfigMaps, {ns_, "a"}, {.stop = stop.get_token()});
  EXPECT_TRUE(got.is(Code::kCancelled)) << why(got);
}

TEST_P(ClusterSuite, DependentsAreRemovedWithTheirLastOwner) {
  const Json one = stored(kConfigMaps, config_map("one"));
  const Json two = stored(kConfigMaps, config_map("two"));
  const auto owned_by = [&](const std::string& name, const std::vector<Json>& owners) {
    Json object = config_map(name);
    for (const Json& owner : owners) {
      object["metadata"]["ownerReferences"].push_back({{"apiVersion", "v1"},
                                                       {"kind", "ConfigMap"},
                                                       {"name", text(owner, "/metadata/name")},
                                                       {"uid", text(owner, "/metadata/uid")}});
    }
    stored(kConfigMaps, object);
  };
  owned_by("x", {one});
  owned_by("y", {one, two});
  ASSERT_TRUE(cluster_->remove(kConfigMaps, {ns_, "one"}));
  EXPECT_TRUE(GetParam().collected([&] { return listed() == "two=1,y=1"; })) << listed();
  ASSERT_TRUE(
      cluster_->remove(kConfigMaps, {ns_, "two"}, {.propagation = Propagation::kForeground}));
  EXPECT_TRUE(GetParam().collected([&] { return listed().empty(); })) << listed();
}

TEST_P(ClusterSuite, APaddleJobCountsItsGenerationsAndCanBeScaled) {
  if (!GetParam().serves_paddle_jobs) GTEST_SKIP() << "the target does not serve PaddleJobs";
  Json object = paddle_job("j", 2);
  object["status"] = {{"phase", "Running"}};
  const Json made = stored(kPaddleJobs, object);
  EXPECT_EQ(made["metadata"]["generation"], 1);
  EXPECT_FALSE(made.contains("status")) << "a create does not write status";

  Json running = made;
  running["status"]["phase"] = "Running";
  const auto status = cluster_->update(kPaddleJobs, running, "status");
  ASSERT_TRUE(status) << why(status);
  EXPECT_EQ((*status)["metadata"]["generation"], 1);

  auto scale = cluster_->get_sub(kPaddleJobs, {ns_, "j"}, "scale");
  ASSERT_TRUE(scale) << why(scale);
  EXPECT_EQ((*scale)["spec"]["replicas"], 2);
  (*scale)["spec"]["replicas"] = 5;
  const auto scaled = cluster_->update(kPaddleJobs, *scale, "scale");
  ASSERT_TRUE(scaled) << why(scaled);
  const auto read = cluster_->get(kPaddleJobs, {ns_, "j"});
  ASSERT_TRUE(read) << why(read);
  EXPECT_EQ((*read)["spec"]["worker"]["replicas"], 5);
  EXPECT_EQ((*read)["metadata"]["generation"], 2);
  EXPECT_EQ(text(*read, "/status/phase"), "Running");

  const auto unversioned = cluster_->update(kPaddleJobs, paddle_job("j", 1));
  EXPECT_TRUE(unversioned.is(Code::kInvalid)) << why(unversioned);
}

}  // namespace paddle::kube
