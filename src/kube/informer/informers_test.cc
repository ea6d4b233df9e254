// SPDX-License-Identifier: Apache-2.0
//
// Informers over the fake: handlers, indexes, sharing, own writes, unreadable objects, and many
// seeds of random faults after which the view must be the server's.
#include "kube/informer/informers.h"

#include <atomic>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::kube {
namespace {

using namespace resources;

struct Item {
  api::Meta meta{};
  std::string value{};
  bool operator==(const Item&) const = default;
};

Projection<Item> items() {
  return {.name = "item", .decode = [](const Json& object) -> Result<Item> {
            TRY(api::Meta meta, api::decode_meta(object));
            const auto data = object.value("data", Json::object());
            if (!data.is_object() || !data.value("value", Json("")).is_string()) {
              return Error{Code::kInvalid, "data.value is not a text"};
            }
            return Item{.meta = std::move(meta), .value = data.value("value", "")};
          }};
}

Json map_named(const std::string& name, const Json& value = "1") {
  return {{"metadata", {{"name", name}, {"namespace", "ns"}}}, {"data", {{"value", value}}}};
}

// Fast enough that a thousand faults pass quickly; the pauses themselves are reflector_plan's
// tests.
constexpr ReflectorPace kQuick{.first_pause = std::chrono::milliseconds(1),
                               .longest_pause = std::chrono::milliseconds(5),
                               .page_size = 3};

template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 12'000; ++i) {
    if (condition()) return true;
    system_clock().sleep(std::chrono::milliseconds(5), {});
  }
  return false;
}

std::string summary(const Store<Item>& store) {
  std::string all;
  for (const auto& item : store.list()) {
    all += (all.empty() ? "" : ",") + item->meta.key.name + "=" + item->value;
  }
  return all;
}

class InformersTest : public testing::Test {
 protected:
  Store<Item> started() {
    auto store = informers_.of(kConfigMaps, {}, items());
    informers_.start();
    EXPECT_TRUE(informers_.wait_until_synced({}));
    return store;
  }
  FakeCluster cluster_;
  Metrics metrics_;
  Informers informers_{cluster_, metrics_, kQuick};
};

TEST_F(InformersTest, FollowCreationsChangesAndDeletions) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  const auto store = started();
  EXPECT_EQ(summary(store), "a=1");
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("b")));
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("a", "2")));
  EXPECT_TRUE(eventually([&] { return summary(store) == "a=2,b=1"; })) << summary(store);
  ASSERT_TRUE(cluster_.remove(kConfigMaps, {"ns", "a"}));
  EXPECT_TRUE(eventually([&] { return summary(store) == "b=1"; })) << summary(store);
}

TEST_F(InformersTest, KeepAValueThatAReaderHolds) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  const auto store = started();
  const auto held = store.find({"ns", "a"});
  ASSERT_TRUE(cluster_.remove(kConfigMaps, {"ns", "a"}));
  EXPECT_TRUE(eventually([&] { return store.size() == 0; }));
  EXPECT_EQ(held->value, "1");
}

TEST_F(InformersTest, AreSharedByEqualRequestsOnly) {
  informers_.of(kConfigMaps, {}, items());
  informers_.of(kConfigMaps, {}, items());
  informers_.of(kConfigMaps, {.ns = "ns"}, items());
  informers_.start();
  ASSERT_TRUE(informers_.wait_until_synced({}));
  size_t lists = 0;
  for (const auto& request : cluster_.requests()) lists += request.verb == Verb::kList ? 1 : 0;
  EXPECT_EQ(lists, 2u);
}

TEST_F(InformersTest, RequestedAfterStartBeginAtOnce) {
  informers_.start();
  const auto store = informers_.of(kConfigMaps, {}, items());
  EXPECT_TRUE(store.wait_until_synced({}));
}

TEST_F(InformersTest, StopAtOnceAlsoWhenTheServerDoesNotRespond) {
  FailingCluster failing(cluster_, faults::every_nth(1, {}));
  Informers informers(failing, metrics_);
  const auto store = informers.of(kConfigMaps, {}, items());
  informers.start();
  informers.stop();
  EXPECT_FALSE(store.has_synced());
}

TEST_F(InformersTest, FindByIndex) {
  const auto store = started();
  const auto by_value = [](const Item& item) { return std::vector<std::string>{item.value}; };
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a", "x")));
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("b", "x")));
  EXPECT_TRUE(eventually([&] { return store.size() == 2; }));
  store.add_index("value", by_value);
  EXPECT_EQ(store.list("value", "x").size(), 2u);
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("b", "y")));
  EXPECT_TRUE(eventually([&] { return store.list("value", "y").size() == 1; }));
  EXPECT_EQ(store.list("value", "x").size(), 1u);
  EXPECT_TRUE(store.list("value", "z").empty());
  EXPECT_TRUE(store.list("no such index", "x").empty());
}

TEST_F(InformersTest, CallALateHandlerForExistingObjects) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  const auto store = started();
  std::atomic<int> news = 0;
  std::atomic<int> others = 0;
  store.on_change([&](const ObjectKey& key, const Item* before, const Item* after) {
    ++(key.name == "a" && !before && after ? news : others);
  });
  EXPECT_TRUE(eventually([&] { return news == 1; }));
  informers_.stop();  // the handler must not outlive what it refers to
  EXPECT_EQ(news, 1);
  EXPECT_EQ(others, 0);
}

TEST_F(InformersTest, LetAHandlerCallTheStore) {
  const auto store = started();
  std::atomic<bool> seen = false;
  store.on_change([&](const ObjectKey& key, const Item*, const Item* after) {
    if (after && store.find(key)) {
      store.on_change([&](const ObjectKey&, const Item*, const Item*) { seen = true; });
    }
  });
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  EXPECT_TRUE(eventually([&] { return seen.load(); }));
  informers_.stop();
}

TEST_F(InformersTest, ShowAnOwnWriteBeforeTheWatchDoes) {
  const auto store = started();
  FakeCluster elsewhere({.seed = 9});  // a write that this watch will never show
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(elsewhere.create(kConfigMaps, map_named("x" + std::to_string(i))));
  }
  const auto written = elsewhere.create(kConfigMaps, map_named("own", "7"));
  ASSERT_TRUE(written);
  store.acknowledge(*written);
  EXPECT_EQ(summary(store), "own=7");
  store.acknowledge_deleted({"ns", "own"}, (*written)["metadata"]["uid"]);
  EXPECT_EQ(summary(store), "");
  store.acknowledge(*items().decode(*written));
  EXPECT_EQ(summary(store), "") << "the deletion came after that version";
}

TEST_F(InformersTest, RenewAWatchThatEndedWithoutListingAgain) {
  const auto store = started();
  ASSERT_TRUE(eventually([&] { return cluster_.open_watches() == 1; }));
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  ASSERT_TRUE(eventually([&] { return store.size() == 1; }));
  cluster_.end_watches();
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("b")));
  EXPECT_TRUE(eventually([&] { return store.size() == 2; }));
  cluster_.cut_watches();
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("c")));
  EXPECT_TRUE(eventually([&] { return store.size() == 3; }));
  size_t lists = 0;
  for (const auto& request : cluster_.requests()) lists += request.verb == Verb::kList ? 1 : 0;
  EXPECT_EQ(lists, 1u);
}

TEST_F(InformersTest, ABookmarkSavesTheListAfterACompaction) {
  const auto store = started();
  ASSERT_TRUE(eventually([&] { return cluster_.open_watches() == 1; }));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(cluster_.create(kSecrets, map_named("s" + std::to_string(i))));
  }
  const auto own = cluster_.create(kSecrets, map_named("not-a-config-map"));
  store.acknowledge(*own);  // leaves the view as soon as the bookmark has arrived
  ASSERT_EQ(store.size(), 1u);
  cluster_.send_bookmarks();
  ASSERT_TRUE(eventually([&] { return store.size() == 0; }));
  cluster_.compact();
  cluster_.cut_watches();
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  EXPECT_TRUE(eventually([&] { return store.size() == 1; }));
  size_t lists = 0;
  for (const auto& request : cluster_.requests()) lists += request.verb == Verb::kList ? 1 : 0;
  EXPECT_EQ(lists, 1u);
}

TEST_F(InformersTest, AFirstListFromACacheThatIsBehindIsBroughtUpToDateByTheWatch) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("b")));
  cluster_.stop_cache();
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("a", "2")));
  ASSERT_TRUE(cluster_.remove(kConfigMaps, {"ns", "b"}));
  const auto store = started();
  EXPECT_TRUE(eventually([&] { return summary(store) == "a=2"; })) << summary(store);
}

TEST_F(InformersTest, AListAgainIsNeverOlderThanWhatWasSeen) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  cluster_.stop_cache();
  const auto store = started();
  std::atomic<int> went_back{0};
  store.on_change([&](const ObjectKey&, const Item* before, const Item* after) {
    if (before && after && after->value < before->value) ++went_back;
  });
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("a", "2")));
  EXPECT_TRUE(eventually([&] { return summary(store) == "a=2"; })) << summary(store);
  cluster_.forget_requests();
  ASSERT_TRUE(cluster_.create(kSecrets, map_named("s")));
  cluster_.compact();
  cluster_.cut_watches();  // the watch cannot continue: the informer has to list again
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("a", "3")));
  EXPECT_TRUE(eventually([&] { return summary(store) == "a=3"; })) << summary(store);
  EXPECT_EQ(went_back, 0) << "the cache that is behind would have shown 1";
  size_t lists = 0;
  for (const auto& request : cluster_.requests()) lists += request.verb == Verb::kList ? 1 : 0;
  EXPECT_GE(lists, 2u) << "from the cache, which is behind, then from etcd";
}

TEST_F(InformersTest, AnObjectThatCannotBeDecodedDoesNotAffectOthers) {
  int logged = 0;
  log::set_sink([&](std::string_view line) {
    if (line.find("cannot be decoded") != std::string_view::npos) ++logged;
  });
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("bad", 5)));
  const auto store = started();
  EXPECT_TRUE(store.is_unreadable({"ns", "bad"}));
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("bad", 6)));
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("good")));
  EXPECT_TRUE(eventually([&] { return summary(store) == "good=1"; }));
  ASSERT_TRUE(cluster_.update(kConfigMaps, map_named("bad", "better")));
  EXPECT_TRUE(eventually([&] { return summary(store) == "bad=better,good=1"; }));
  EXPECT_FALSE(store.is_unreadable({"ns", "bad"}));
  informers_.stop();
  log::set_sink({});
  EXPECT_EQ(logged, 1);
  EXPECT_NE(metrics_.text().find("paddle_informer_unreadable_total"), std::string::npos);
}

TEST_F(InformersTest, CountTheirObjects) {
  ASSERT_TRUE(cluster_.create(kConfigMaps, map_named("a")));
  started();
  EXPECT_NE(metrics_.text().find("paddle_informer_objects{resource=\"configmaps\"} 1"),
            std::string::npos)
      << metrics_.text();
}

// Writers, cuts, ends, compactions and a failing server at once. Then all faults end, and
// the view, and the replay of the handlers' calls, must be the server's state.
void run_faults(std::uint64_t seed) {
  FakeCluster server({.seed = seed});
  FailingCluster failing(server, faults::random(seed, 0.3));
  Metrics metrics;
  Random random(seed);
  Informers informers(failing, metrics, kQuick, system_clock(), random);
  const auto store = informers.of(kConfigMaps, {}, items());
  std::map<ObjectKey, Item> replayed;
  store.on_change([&](const ObjectKey& key, const Item* before, const Item* after) {
    const auto found = replayed.find(key);
    EXPECT_EQ(before != nullptr, found != replayed.end());
    if (before && found != replayed.end()) {
      EXPECT_EQ(*before, found->second);
    }
    replayed.erase(key);
    if (after) replayed.emplace(key, *after);
  });
  informers.start();

  Random choice(seed + 1);
  for (int i = 0; i < 150; ++i) {
    const std::string name = "m" + std::to_string(choice.below(12));
    switch (choice.below(12)) {
      case 0:
        server.cut_watches();
        break;
      case 1:
        server.end_watches();
        break;
      case 2:
        server.compact();
        break;
      case 3:
        server.send_bookmarks();
        break;
      case 4:
      case 5:
        if (auto old = server.get(kConfigMaps, {"ns", name})) {
          const std::string uid = (*old)["metadata"]["uid"];
          const std::string version = (*old)["metadata"]["resourceVersion"];
          if (server.remove(kConfigMaps, {"ns", name}, {.uid = uid}) && choice.below(2) == 0) {
            store.acknowledge_deleted({"ns", name}, uid, version);
          }
        }
        break;
      default:
        auto written = server.create(kConfigMaps, map_named(name, std::to_string(i)));
        if (!written) written = server.update(kConfigMaps, map_named(name, std::to_string(i)));
        ASSERT_TRUE(written);
        if (choice.below(2) == 0) store.acknowledge(*written);
    }
    if (choice.below(10) == 0) system_clock().sleep(std::chrono::milliseconds(2), {});
  }
  failing.set_policy(faults::none());
  std::map<ObjectKey, Item> truth;
  ASSERT_TRUE(server.list(kConfigMaps, {}, [&](std::string_view text) -> Result<> {
    Item item = *items().decode(*api::parse_json(text));
    truth.emplace(item.meta.key, std::move(item));
    return Done{};
  }));
  const auto view = [&] {
    std::map<ObjectKey, Item> now;
    for (const auto& item : store.list()) now.emplace(item->meta.key, *item);
    return now;
  };
  EXPECT_TRUE(eventually([&] { return view() == truth; }));
  informers.stop();
  EXPECT_EQ(view(), truth);
  EXPECT_EQ(replayed, truth);
}

TEST(InformersUnderFaults, EndUpWithTheServersStateAndLoseNoDeletion) {
  log::set_level(log::Level::kError);  // every fault would be a line
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_faults(seed);
  }
  log::set_level(log::Level::kInfo);
}

}  // namespace
}  // namespace paddle::kube
