// SPDX-License-Identifier: Apache-2.0
// Informers on a real API server while connections are cut in the middle of events (at least a
// thousand times), the API server is killed and restarted, etcd is compacted, and several writers
// create, change and delete. In the end every informer's cache must equal the server, byte for byte
// in the kept fields, and so must the replay of its handlers' calls: no change and no deletion was
// lost.
//
// ConfigMaps are served through the API server's watch cache, Secrets directly from etcd, so that
// both kinds of "too old" happen. PADDLE_SEED repeats a schedule (as far as threads allow).
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "kube/client/client.h"
#include "kube/informer/informers.h"
#include "test/integration/cutting_proxy.h"
#include "test/support/control_plane.h"
#include "test/support/eventually.h"

namespace paddle::kube {
namespace {

using namespace resources;

constexpr size_t kCuts = 1'000;
constexpr size_t kRestarts = 3;
constexpr size_t kCompactions = 10;
constexpr size_t kInformers = 4;  // per kind, each with its own connections
constexpr size_t kNames = 30;

struct Kept {
  std::string text{};  // the kept fields, as JSON
};

std::string kept_fields(const Json& object) {
  const Json& meta = object["metadata"];
  return api::dump_json({{"name", meta["name"]},
                         {"uid", meta["uid"]},
                         {"version", meta["resourceVersion"]},
                         {"labels", meta.value("labels", Json::object())},
                         {"data", object.value("data", Json::object())}});
}

Projection<Kept> kept() {
  return {.name = "kept",
          .decode = [](const Json& object) -> Result<Kept> { return Kept{kept_fields(object)}; }};
}

using State = std::map<std::string, std::string>;  // name -> kept fields

// One informer of its own, and the state that the calls of its handlers add up to.
struct Follower {
  Follower(const Config& config, const Resource& kind, Random& random)
      : resource(kind),
        client(config),
        informers(client, metrics,
                  {.first_pause = std::chrono::milliseconds(10),
                   .longest_pause = std::chrono::milliseconds(500),
                   .page_size = 10},
                  system_clock(), random),
        store(informers.of(kind, {.ns = "default"}, kept())) {
    store.on_change([this](const ObjectKey& key, const Kept* before, const Kept* after) {
      const auto found = replayed.find(key.name);
      if (before ? found == replayed.end() || found->second != before->text
                 : found != replayed.end()) {
        ++contradictions;
      }
      replayed.erase(key.name);
      if (after) replayed.emplace(key.name, after->text);
    });
    informers.start();
  }
  State view() const {
    State now;
    for (const auto& item : store.list()) now.emplace(key_of(*item), item->text);
    return now;
  }
  static std::string key_of(const Kept& item) { return (*api::parse_json(item.text))["name"]; }
  double count(const char* what) {
    return metrics.counter(what, "", {{"resource", resource.plural}}).Value();
  }

  const Resource resource;
  Client client;
  Metrics metrics;
  State replayed{};
  size_t contradictions = 0;
  Informers informers;
  Store<Kept> store;
};

// Creates, changes and deletes until stopped; calls that fail are not repeated.
void write_for_ever(const Config& config, std::uint64_t seed, std::atomic<size_t>& done,
                    std::stop_token stop) {
  Client client(config);
  Random random(seed);
  while (!stop.stop_requested()) {
    const Resource& kind = random.below(2) == 0 ? kConfigMaps : kSecrets;
    const std::string name = "m" + std::to_string(random.below(kNames));
    const Call call{.timeout = std::chrono::seconds(5), .stop = stop};
    const std::string text = random.hex(100 + random.below(800));
    bool written = false;
    if (random.below(4) == 0) {
      written = static_cast<bool>(client.remove(kind, {"default", name}, {}, call));
    } else {
      const Json object = {{"apiVersion", "v1"},
                           {"kind", kind.kind},
                           {"metadata", {{"name", name}, {"namespace", "default"}}},
                           {"data", {{"value", text}}}};
      const auto made = client.create(kind, object, call);
      written = made || client.update(kind, object, {}, call);
    }
    if (written) ++done;
    system_clock().sleep(std::chrono::milliseconds(written ? 1 : 20), stop);
  }
}

State truth_of(Client& client, const Resource& kind) {
  State truth;
  const auto version =
      client.list(kind, {.ns = "default", .page_size = 7}, [&](std::string_view text) -> Result<> {
        const Json object = *api::parse_json(text);
        truth.emplace(object["metadata"]["name"], kept_fields(object));
        return Done{};
      });
  EXPECT_TRUE(version) << version.error().message;
  return truth;
}

std::uint64_t chosen_seed() {
  const char* given = std::getenv("PADDLE_SEED");
  return given ? std::strtoull(given, nullptr, 10) : system_random().next() % 1'000'000;
}

TEST(InformerFaults, TheCacheEqualsTheServerAfterAThousandCuts) {
  const std::uint64_t seed = chosen_seed();
  std::cout << "PADDLE_SEED=" << seed << std::endl;
  log::set_level(log::Level::kError);
  auto started = test::ControlPlane::start({.api_server_flags = {"--watch-cache-sizes=secrets#0"}});
  ASSERT_TRUE(started) << started.error().message;
  test::ControlPlane& plane = **started;
  const int port = std::stoi(plane.url().substr(plane.url().rfind(':') + 1));
  auto proxied = test::CuttingProxy::start(port, seed);
  ASSERT_TRUE(proxied) << proxied.error().message;
  test::CuttingProxy& proxy = **proxied;

  const Config direct{.server = plane.url(),
                      .tls = {.ca_file = plane.ca_path()},
                      .proxy = "",
                      .token = plane.token()};
  Config cut = direct;
  cut.server = "https://127.0.0.1:" + std::to_string(proxy.port());

  Random random(seed + 1);
  std::vector<std::unique_ptr<Follower>> followers;
  for (size_t i = 0; i < kInformers; ++i) {
    followers.push_back(std::make_unique<Follower>(cut, kConfigMaps, random));
    followers.push_back(std::make_unique<Follower>(cut, kSecrets, random));
  }
  std::atomic<size_t> writes = 0;
  std::vector<std::jthread> writers;
  for (std::uint64_t i = 0; i < 3; ++i) {
    writers.emplace_back(
        [&, i](std::stop_token stop) { write_for_ever(direct, seed + 10 + i, writes, stop); });
  }

  size_t restarts = 0;
  size_t compactions = 0;
  const auto begun = system_clock().boot();
  EXPECT_TRUE(test::eventually(
      [&] {
        if (compactions < kCompactions && proxy.cuts() >= (compactions + 1) * kCuts / 11) {
          EXPECT_TRUE(plane.compact_etcd());
          ++compactions;
        }
        if (restarts < kRestarts && proxy.cuts() >= (restarts + 1) * kCuts / 4) {
          EXPECT_TRUE(plane.stop_api_server());
          EXPECT_TRUE(
              plane.compact_etcd());  // what a watch may have missed cannot be read any more
          const auto up = plane.start_api_server();
          EXPECT_TRUE(up) << up.error().message;
          ++restarts;
        }
        return proxy.cuts() >= kCuts && restarts == kRestarts && compactions == kCompactions;
      },
      std::chrono::seconds(400)))
      << proxy.cuts() << " cuts";
  const auto lasted = system_clock().boot() - begun;

  proxy.calm();
  for (auto& writer : writers) writer.request_stop();
  writers.clear();
  Client client(direct);
  double lists = 0;
  double watches = 0;
  for (auto& follower : followers) {
    // Read repeatedly: a write whose writer has given up may still be on its way.
    State wanted;
    EXPECT_TRUE(test::eventually([&] {
      wanted = truth_of(client, follower->resource);
      return follower->view() == wanted;
    }));
    follower->informers.stop();
    EXPECT_EQ(follower->view(), wanted);
    EXPECT_EQ(follower->replayed, wanted);
    EXPECT_EQ(follower->contradictions, 0u);
    lists += follower->count("paddle_informer_lists_total");
    watches += follower->count("paddle_informer_watches_total");
  }
  std::cout << "cuts=" << proxy.cuts() << " connections=" << proxy.connections()
            << " writes=" << writes << " restarts=" << restarts << " compactions=" << compactions
            << " lists=" << lists << " watches=" << watches
            << " seconds=" << std::chrono::duration_cast<std::chrono::seconds>(lasted).count()
            << std::endl;
  EXPECT_GT(lists, static_cast<double>(followers.size())) << "no list was ever repeated";
}

}  // namespace
}  // namespace paddle::kube
