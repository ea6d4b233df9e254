// SPDX-License-Identifier: Apache-2.0
// The suite over the fake and over a failing cluster without faults, and tests of what only the
// fake has.
#include "kube/fake/fake_cluster.h"

#include <thread>

#include <nlohmann/json.hpp>

#include "kube/fake/cluster_suite.h"
#include "kube/fake/failing_cluster.h"

namespace paddle::kube {
namespace {

using namespace resources;

// Owns both, so that the suite can hold it as one Cluster.
class QuietFailingCluster final : public Cluster {
 public:
  Result<Json> get(const Resource& r, const ObjectKey& k, const Call& c) override {
    return outer_.get(r, k, c);
  }
  Result<std::string> list(const Resource& r, const ListOptions& o, const ItemSink& s,
                           const Call& c) override {
    return outer_.list(r, o, s, c);
  }
  Result<> watch(const Resource& r, const WatchOptions& o, const EventSink& s,
                 const Call& c) override {
    return outer_.watch(r, o, s, c);
  }
  Result<Json> create(const Resource& r, const Json& o, const Call& c) override {
    return outer_.create(r, o, c);
  }
  Result<Json> update(const Resource& r, const Json& o, const std::string& s,
                      const Call& c) override {
    return outer_.update(r, o, s, c);
  }
  Result<Json> patch(const Resource& r, const ObjectKey& k, const Patch& p, const std::string& s,
                     const Call& c) override {
    return outer_.patch(r, k, p, s, c);
  }
  Result<> remove(const Resource& r, const ObjectKey& k, const DeleteOptions& o,
                  const Call& c) override {
    return outer_.remove(r, k, o, c);
  }
  Result<Json> get_sub(const Resource& r, const ObjectKey& k, const std::string& s,
                       const Call& c) override {
    return outer_.get_sub(r, k, s, c);
  }

  FakeCluster inner_;
  FailingCluster outer_{inner_, faults::none()};
};

std::string name_of(const testing::TestParamInfo<SuiteTarget>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    InMemory, ClusterSuite,
    testing::Values(
        SuiteTarget{.name = "Fake",
                    .make = [] { return std::make_unique<FakeCluster>(); },
                    .serves_paddle_jobs = true,
                    .compact = [](Cluster& c) { dynamic_cast<FakeCluster&>(c).compact(); }},
        SuiteTarget{
            .name = "FailingWithoutFaults",
            .make = [] { return std::make_unique<QuietFailingCluster>(); },
            .serves_paddle_jobs = true,
            .compact = [](Cluster& c) { dynamic_cast<QuietFailingCluster&>(c).inner_.compact(); }}),
    name_of);

Json map_named(const std::string& name, const std::string& value = "1") {
  return {{"metadata", {{"name", name}, {"namespace", "ns"}}}, {"data", {{"value", value}}}};
}

TEST(FakeCluster, AListWhosePagesWereCompactedHasExpired) {
  FakeCluster cluster;
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(cluster.create(kConfigMaps, map_named(name)));
  int seen = 0;
  const auto outcome =
      cluster.list(kConfigMaps, {.page_size = 2}, [&](std::string_view) -> Result<> {
        ++seen;
        if (seen == 1) {
          EXPECT_TRUE(cluster.create(kConfigMaps, map_named("d")));
          cluster.compact();
        }
        return Done{};
      });
  EXPECT_TRUE(outcome.is(Code::kExpired));
  EXPECT_EQ(seen, 2);
}

TEST(FakeCluster, PagesOfOneListShowOneVersion) {
  FakeCluster cluster;
  for (const char* name : {"a", "b", "c"})
    ASSERT_TRUE(cluster.create(kConfigMaps, map_named(name)));
  std::string seen;
  const auto outcome =
      cluster.list(kConfigMaps, {.page_size = 1}, [&](std::string_view object) -> Result<> {
        if (seen.empty()) {
          EXPECT_TRUE(cluster.remove(kConfigMaps, {"ns", "c"}));
        }
        seen += (*api::parse_json(object))["metadata"]["name"].get<std::string>();
        return Done{};
      });
  EXPECT_TRUE(outcome);
  EXPECT_EQ(seen, "abc");
}

TEST(FakeCluster, BookmarksCarryTheLatestVersionOfAnyKind) {
  FakeCluster cluster;
  const std::string start = cluster.version();
  std::string marked;
  std::jthread watcher([&] {
    const auto outcome = cluster.watch(
        kConfigMaps, {.resource_version = start}, [&](const WatchEvent& event) -> Result<> {
          EXPECT_EQ(event.type, EventType::kBookmark);
          marked = (*api::parse_json(event.object))["metadata"]["resourceVersion"];
          return Error{Code::kCancelled, "enough"};
        });
    EXPECT_TRUE(outcome.is(Code::kCancelled));
  });
  while (cluster.open_watches() == 0) std::this_thread::yield();
  ASSERT_TRUE(cluster.create(kSecrets, map_named("other")));
  cluster.send_bookmarks();
  watcher.join();
  EXPECT_EQ(marked, cluster.version());
}

TEST(FakeCluster, AHistoryOfLimitedLengthForgetsTheOldestVersions) {
  FakeCluster cluster({.history_limit = 3});
  const std::string start = cluster.version();
  for (const char* name : {"a", "b", "c"}) {
    ASSERT_TRUE(cluster.create(kConfigMaps, map_named(name)));
  }
  const auto first_event = [&] {
    return cluster.watch(kConfigMaps, {.resource_version = start},
                         [](const WatchEvent&) -> Result<> {
                           return Error{Code::kCancelled, "enough"};
                         });
  };
  EXPECT_TRUE(first_event().is(Code::kCancelled));
  ASSERT_TRUE(cluster.create(kConfigMaps, map_named("d")));
  EXPECT_TRUE(first_event().is(Code::kExpired));
}

TEST(FakeCluster, AStoppedCacheServesListsAtAVersionAndNoLaterVersion) {
  FakeCluster cluster;
  ASSERT_TRUE(cluster.create(kConfigMaps, map_named("a")));
  cluster.stop_cache();
  ASSERT_TRUE(cluster.create(kConfigMaps, map_named("b")));
  const auto count = [&](const std::string& version) -> Result<size_t> {
    size_t found = 0;
    TRY(const std::string at,
        cluster.list(kConfigMaps, {.resource_version = version}, [&](std::string_view) -> Result<> {
          ++found;
          return Done{};
        }));
    return found;
  };
  EXPECT_EQ(*count("0"), 1u);
  EXPECT_EQ(*count(""), 2u) << "the most recent";
  EXPECT_TRUE(count(cluster.version()).is(Code::kExpired));
  cluster.resume_cache();
  EXPECT_EQ(*count("0"), 2u);
}

TEST(FakeCluster, WatchesCanBeEndedAndCut) {
  for (const bool cut : {false, true}) {
    FakeCluster cluster;
    Result<> outcome = Done{};
    std::jthread watcher([&] {
      outcome = cluster.watch(kConfigMaps, {.resource_version = cluster.version()},
                              [](const WatchEvent&) -> Result<> { return Done{}; });
    });
    while (cluster.open_watches() == 0) std::this_thread::yield();
    cut ? cluster.cut_watches() : cluster.end_watches();
    watcher.join();
    EXPECT_EQ(outcome.is(Code::kUnavailable), cut);
    EXPECT_EQ(static_cast<bool>(outcome), !cut);
    EXPECT_EQ(cluster.open_watches(), 0u);
  }
}

TEST(FakeCluster, AnOwnerInTheForegroundWaitsForDependentsWithFinalizers) {
  FakeCluster cluster;
  const auto owner = cluster.create(kConfigMaps, map_named("owner"));
  ASSERT_TRUE(owner);
  Json child = map_named("child");
  child["metadata"]["finalizers"] = {"example.org/hold"};
  child["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "owner"},
                                           {"uid", (*owner)["metadata"]["uid"]}}};
  ASSERT_TRUE(cluster.create(kConfigMaps, child));
  ASSERT_TRUE(
      cluster.remove(kConfigMaps, {"ns", "owner"}, {.propagation = Propagation::kForeground}));
  EXPECT_TRUE(cluster.get(kConfigMaps, {"ns", "owner"}));
  ASSERT_TRUE(cluster.patch(kConfigMaps, {"ns", "child"},
                            {.body = {{"metadata", {{"finalizers", nullptr}}}}}));
  EXPECT_TRUE(cluster.get(kConfigMaps, {"ns", "child"}).is(Code::kNotFound));
  EXPECT_TRUE(cluster.get(kConfigMaps, {"ns", "owner"}).is(Code::kNotFound));
}

TEST(FakeCluster, OrphansStayWithoutTheirOwnerReference) {
  FakeCluster cluster;
  const auto owner = cluster.create(kConfigMaps, map_named("owner"));
  Json child = map_named("child");
  child["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                           {"kind", "ConfigMap"},
                                           {"name", "owner"},
                                           {"uid", (*owner)["metadata"]["uid"]}}};
  ASSERT_TRUE(cluster.create(kConfigMaps, child));
  ASSERT_TRUE(cluster.remove(kConfigMaps, {"ns", "owner"}, {.propagation = Propagation::kOrphan}));
  const auto left = cluster.get(kConfigMaps, {"ns", "child"});
  ASSERT_TRUE(left);
  EXPECT_FALSE((*left)["metadata"].contains("ownerReferences"));
}

TEST(FakeCluster, ADependentCreatedAfterItsOwnersRemovalIsCollectedOnRequest) {
  FakeCluster cluster;
  Json child = map_named("child");
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", "long-gone"}}};
  ASSERT_TRUE(cluster.create(kConfigMaps, child));
  EXPECT_TRUE(cluster.get(kConfigMaps, {"ns", "child"}));
  cluster.collect_dangling();
  EXPECT_TRUE(cluster.get(kConfigMaps, {"ns", "child"}).is(Code::kNotFound));
}

TEST(FakeCluster, RecordsEveryRequest) {
  FakeCluster cluster;
  ASSERT_TRUE(cluster.create(kConfigMaps, map_named("a")));
  EXPECT_FALSE(cluster.get(kConfigMaps, {"ns", "b"}));
  EXPECT_EQ(cluster.requests(), (std::vector<Request>{{Verb::kCreate, kConfigMaps, {"ns", "a"}},
                                                      {Verb::kGet, kConfigMaps, {"ns", "b"}}}));
}

TEST(FakeCluster, HostileObjectsAreRefusedWithoutACrash) {
  FakeCluster cluster;
  for (const Json& bad :
       {Json(nullptr), Json::array(), Json("text"), Json{{"metadata", 3}},
        Json{{"metadata", {{"name", 7}, {"namespace", "ns"}}}},
        Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}, {"labels", 1}}}},
        Json{{"metadata", {{"name", "a"}, {"namespace", "ns"}}}, {"kind", "X"}}}) {
    EXPECT_TRUE(cluster.create(kConfigMaps, bad).is(Code::kInvalid)) << bad.dump();
    EXPECT_FALSE(cluster.update(kConfigMaps, bad)) << bad.dump();
  }
  ASSERT_TRUE(cluster.create(kConfigMaps, map_named("a")));
  for (const Json& bad : {Json(nullptr), Json("text"), Json{{"metadata", nullptr}},
                          Json{{"metadata", {{"finalizers", "x"}}}}}) {
    EXPECT_TRUE(cluster.patch(kConfigMaps, {"ns", "a"}, {.body = bad}).is(Code::kInvalid))
        << bad.dump();
  }
  EXPECT_TRUE(cluster.patch(kConfigMaps, {"ns", "a"}, {.type = PatchType::kJson, .body = "x"})
                  .is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::kube
