// SPDX-License-Identifier: Apache-2.0
//
// Every verb of kube::Client against the real API server.

#include <thread>

#include "test/integration/client_fixture.h"

namespace paddle::test {
namespace {

using namespace kube;
using namespace std::chrono_literals;
using resources::kConfigMaps;

using ClientVerbs = ClientTest;

std::string version_of(const Json& object) { return object["metadata"]["resourceVersion"]; }
std::string uid_of(const Json& object) { return object["metadata"]["uid"]; }

TEST_F(ClientVerbs, AnObjectLivesFromCreateToDelete) {
  auto api = client();
  const auto made = api.create(kConfigMaps, config_map("a"));
  ASSERT_TRUE(made) << why(made);
  EXPECT_EQ((*made)["metadata"]["managedFields"][0]["manager"], "paddle-operator");
  EXPECT_TRUE(api.create(kConfigMaps, config_map("a")).is(Code::kAlreadyExists));
  EXPECT_EQ(*api.get(kConfigMaps, {ns_, "a"}), *made);

  Json next = *made;
  next["data"]["value"] = "2";
  const auto updated = api.update(kConfigMaps, next);
  ASSERT_TRUE(updated) << why(updated);
  EXPECT_TRUE(api.update(kConfigMaps, next).is(Code::kConflict));  // its version is old by now

  const auto merged = api.patch(kConfigMaps, {ns_, "a"}, {.body = {{"data", {{"more", "x"}}}}});
  ASSERT_TRUE(merged) << why(merged);
  const Json steps = {{{"op", "test"}, {"path", "/data/more"}, {"value", "x"}},
                      {{"op", "remove"}, {"path", "/data/more"}}};
  const auto patched =
      api.patch(kConfigMaps, {ns_, "a"}, {.type = PatchType::kJson, .body = steps});
  ASSERT_TRUE(patched) << why(patched);
  EXPECT_EQ((*patched)["data"], Json({{"value", "2"}}));
  EXPECT_TRUE(api.patch(kConfigMaps, {ns_, "a"}, {.type = PatchType::kJson, .body = steps})
                  .is(Code::kInvalid));

  EXPECT_TRUE(api.remove(kConfigMaps, {ns_, "a"}));
  EXPECT_TRUE(api.remove(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));
}

TEST_F(ClientVerbs, DeletesOnlyWhatThePreconditionsName) {
  auto api = client();
  const Json old = *api.create(kConfigMaps, config_map("a"));
  EXPECT_TRUE(api.remove(kConfigMaps, {ns_, "a"}, {.uid = "11111111-2222-3333-4444-555555555555"})
                  .is(Code::kConflict));
  ASSERT_TRUE(api.patch(kConfigMaps, {ns_, "a"}, {.body = {{"data", {{"v", "2"}}}}}));
  EXPECT_TRUE(
      api.remove(kConfigMaps, {ns_, "a"}, {.uid = uid_of(old), .resource_version = version_of(old)})
          .is(Code::kConflict));
  EXPECT_TRUE(api.remove(kConfigMaps, {ns_, "a"}, {.uid = uid_of(old)}));
}

TEST_F(ClientVerbs, ServerSideApplyReportsConflictsAndForceTakesOver) {
  auto api = client();
  const Patch mine{.type = PatchType::kApply, .body = config_map("a", "1"), .field_manager = "one"};
  ASSERT_TRUE(api.patch(kConfigMaps, {ns_, "a"}, mine));
  Patch theirs{.type = PatchType::kApply, .body = config_map("a", "2"), .field_manager = "two"};
  const auto refused = api.patch(kConfigMaps, {ns_, "a"}, theirs);
  ASSERT_TRUE(refused.is(Code::kConflict)) << why(refused);
  EXPECT_NE(refused.error().message.find("one"), std::string::npos) << refused.error().message;
  theirs.force = true;
  const auto forced = api.patch(kConfigMaps, {ns_, "a"}, theirs);
  ASSERT_TRUE(forced) << why(forced);
  EXPECT_EQ((*forced)["data"]["value"], "2");
}

TEST_F(ClientVerbs, StatusAndScaleAreWrittenApart) {
  const Resource deployments{"apps", "v1", "deployments", "Deployment", true};
  auto api = client();
  const Json labels = {{"app", "a"}};
  const Json deployment = {
      {"apiVersion", "apps/v1"},
      {"kind", "Deployment"},
      {"metadata", {{"name", "a"}, {"namespace", ns_}}},
      {"spec",
       {{"replicas", 1},
        {"selector", {{"matchLabels", labels}}},
        {"template",
         {{"metadata", {{"labels", labels}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "example.org/none:1"}}}}}}}}}}};
  Json stored = *api.create(deployments, deployment);
  stored["status"]["observedGeneration"] = 1;
  stored["spec"]["replicas"] = 7;  // ignored by the status subresource
  const auto status = api.update(deployments, stored, "status");
  ASSERT_TRUE(status) << why(status);
  EXPECT_EQ((*status)["status"]["observedGeneration"], 1);
  EXPECT_EQ((*status)["spec"]["replicas"], 1);

  auto scale = api.get_sub(deployments, {ns_, "a"}, "scale");
  ASSERT_TRUE(scale) << why(scale);
  (*scale)["spec"]["replicas"] = 3;
  ASSERT_TRUE(api.update(deployments, *scale, "scale"));
  const auto patched =
      api.patch(deployments, {ns_, "a"}, {.body = {{"spec", {{"replicas", 4}}}}}, "scale");
  ASSERT_TRUE(patched) << why(patched);
  EXPECT_EQ((*api.get(deployments, {ns_, "a"}))["spec"]["replicas"], 4);
}

TEST_F(ClientVerbs, AWatchShowsEveryChangeAndEndsByItself) {
  auto api = client();
  const auto start =
      api.list(kConfigMaps, {.ns = ns_}, [](std::string_view) -> Result<> { return Done{}; });
  ASSERT_TRUE(start) << why(start);
  ASSERT_TRUE(api.create(kConfigMaps, config_map("a")));
  ASSERT_TRUE(api.patch(kConfigMaps, {ns_, "a"}, {.body = {{"data", {{"value", "2"}}}}}));
  ASSERT_TRUE(api.remove(kConfigMaps, {ns_, "a"}));
  std::string seen;
  const auto done = api.watch(kConfigMaps, {.ns = ns_, .resource_version = *start, .timeout = 2s},
                              [&](const WatchEvent& event) -> Result<> {
                                if (event.type != EventType::kBookmark) {
                                  const Json object = Json::parse(event.object);
                                  seen += std::to_string(static_cast<int>(event.type)) +
                                          object["data"]["value"].get<std::string>() + " ";
                                }
                                return Done{};
                              });
  EXPECT_TRUE(done) << why(done);
  EXPECT_EQ(seen, "01 12 22 ");
}

TEST_F(ClientVerbs, ABookmarkCarriesAVersionToResumeFrom) {
  auto api = client();
  const auto start =
      api.list(kConfigMaps, {.ns = ns_}, [](std::string_view) -> Result<> { return Done{}; });
  ASSERT_TRUE(start) << why(start);
  // The server sends one some time before it ends the watch, if there was any change by then.
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; system_clock().sleep(100ms, stop); ++i) {
      (void)static_cast<bool>(api.create(kConfigMaps, config_map("c" + std::to_string(i))));
    }
  });
  std::string version;
  const auto done = api.watch(kConfigMaps, {.ns = ns_, .resource_version = *start, .timeout = 10s},
                              [&](const WatchEvent& event) -> Result<> {
                                if (event.type != EventType::kBookmark) return Done{};
                                version = version_of(Json::parse(event.object));
                                return Error{Code::kCancelled, "seen"};
                              });
  EXPECT_TRUE(done.is(Code::kCancelled)) << why(done);
  EXPECT_GT(std::stoll("0" + version), std::stoll(*start));
}

TEST_F(ClientVerbs, AnApiServerThatDiesCutsTheWatchAndComesBackWithoutItsHistory) {
  auto api = client();
  const auto start =
      api.list(kConfigMaps, {.ns = ns_}, [](std::string_view) -> Result<> { return Done{}; });
  ASSERT_TRUE(start);
  ASSERT_TRUE(api.create(kConfigMaps, config_map("a")));
  std::jthread killer;
  const auto done = api.watch(
      kConfigMaps, {.ns = ns_, .resource_version = *start}, [&](const WatchEvent&) -> Result<> {
        killer = std::jthread([this] { (void)static_cast<bool>(plane_->stop_api_server()); });
        return Done{};
      });
  EXPECT_TRUE(done.is(Code::kUnavailable)) << why(done);
  killer.join();
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}).is(Code::kUnavailable));
  ASSERT_TRUE(plane_->start_api_server());
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}));
  ASSERT_TRUE(plane_->compact_etcd());
  const auto old = api.watch(kConfigMaps, {.ns = ns_, .resource_version = "1", .timeout = 5s},
                             [](const WatchEvent&) -> Result<> { return Done{}; });
  EXPECT_TRUE(old.is(Code::kExpired)) << why(old);
}

}  // namespace
}  // namespace paddle::test
