// SPDX-License-Identifier: Apache-2.0
// The embedded API server killed with -9 while clients write: every acknowledged write exists when
// it starts again, and it shows one consistent history.

#include <map>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/random.h"
#include "base/sync.h"
#include "kube/client/client.h"
#include "test/support/eventually.h"
#include "test/support/ports.h"
#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {
namespace {

using kube::Json;
using kube::resources::kConfigMaps;

constexpr int kRounds = 8;
constexpr int kWriters = 3;

class LocalKillTest : public testing::Test {
 protected:
  void SetUp() override {
    auto port = test::ReservedPort::any();
    ASSERT_TRUE(port);
    port_.emplace(*std::move(port));
    start();
  }

  void start() {
    auto child =
        scratch_.keeper().spawn({.argv = {PADDLE_LOCAL_API_CHILD, scratch_.path() + "/data",
                                          std::to_string(port_->number())},
                                 .env = test::clean_environment(scratch_.path()),
                                 .log = scratch_.path() + "/server.log"});
    ASSERT_TRUE(child) << child.error().message;
    child_ = *child;
    ASSERT_TRUE(test::eventually([&] {
      token_ = test::read_file(scratch_.path() + "/data/token");
      while (!token_.empty() && token_.back() == '\n') token_.pop_back();
      return !token_.empty() && client().get_raw("/readyz").operator bool();
    })) << test::tail(scratch_.path() + "/server.log", 20);
  }

  kube::Client client() const {
    return kube::Client({.server = "https://127.0.0.1:" + std::to_string(port_->number()),
                         .tls = {.ca_file = scratch_.path() + "/data/server.pem"},
                         .proxy = "",
                         .token = token_});
  }

  // Writes as fast as it can until the server is gone; notes what was acknowledged.
  void write_until_refused(int writer, int round) {
    kube::Client api = client();
    for (int i = 0;; ++i) {
      const std::string name =
          "w" + std::to_string(writer) + "-" + std::to_string(round) + "-" + std::to_string(i % 20);
      const std::string value = std::to_string(i);
      const Json object{{"apiVersion", "v1"},
                        {"kind", "ConfigMap"},
                        {"metadata", {{"name", name}, {"namespace", "default"}}},
                        {"data", {{"value", value}}}};
      {
        Lock lock(mutex_);
        attempted_[name] = value;
      }
      const auto done = i < 20 ? api.create(kConfigMaps, object) : api.update(kConfigMaps, object);
      if (!done) return;
      Lock lock(mutex_);
      acknowledged_[name] = value;
      ++writes_;
    }
  }

  void check_everything_acknowledged_is_there() {
    std::map<std::string, std::string> stored;
    const auto listed =
        client().list(kConfigMaps, {.ns = "default"}, [&](std::string_view text) -> Result<> {
          TRY(const Json object, api::parse_json(text));
          stored[object["metadata"]["name"]] = object["data"]["value"];
          return Done{};
        });
    ASSERT_TRUE(listed) << listed.error().message;
    Lock lock(mutex_);
    for (const auto& [name, value] : acknowledged_) {
      ASSERT_TRUE(stored.contains(name)) << name << " was acknowledged and is lost";
      // The one write that was cut off may have happened or not.
      EXPECT_TRUE(stored[name] == value || stored[name] == attempted_[name])
          << name << " is " << stored[name] << ", acknowledged " << value;
    }
    for (const auto& [name, value] : stored) acknowledged_[name] = value;
    attempted_ = acknowledged_;
  }

  test::ScratchDir scratch_;
  std::optional<test::ReservedPort> port_;
  pid_t child_ = 0;
  std::string token_;
  Mutex mutex_;
  std::map<std::string, std::string> acknowledged_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> attempted_ GUARDED_BY(mutex_);
  int writes_ GUARDED_BY(mutex_) = 0;
};

TEST_F(LocalKillTest, LosesNoAcknowledgedWriteHoweverOftenItIsKilled) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::jthread> writers;
    for (int w = 0; w < kWriters; ++w) {
      writers.emplace_back([this, w, round] { write_until_refused(w, round); });
    }
    // At a random moment, but not before anything was written.
    const int wanted = static_cast<int>(5 + system_random().below(80));
    ASSERT_TRUE(test::eventually(
        [&] {
          Lock lock(mutex_);
          return writes_ >= wanted;
        },
        std::chrono::seconds{60}, std::chrono::milliseconds{1}));
    ASSERT_TRUE(scratch_.keeper().kill(child_));
    writers.clear();
    {
      Lock lock(mutex_);
      writes_ = 0;
    }
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_NO_FATAL_FAILURE(check_everything_acknowledged_is_there());
  }
}

TEST_F(LocalKillTest, AWatchContinuesAtItsPositionAfterARestart) {
  const auto object = [](const std::string& name) {
    return Json{{"metadata", {{"name", name}, {"namespace", "default"}}}};
  };
  const auto before = client().create(kConfigMaps, object("before"));
  ASSERT_TRUE(before) << before.error().message;
  ASSERT_TRUE(client().create(kConfigMaps, object("between")));
  ASSERT_TRUE(scratch_.keeper().kill(child_));
  ASSERT_NO_FATAL_FAILURE(start());
  ASSERT_TRUE(client().create(kConfigMaps, object("after")));

  std::string seen;
  const Error enough{Code::kCancelled, "enough"};
  const auto done = client().watch(
      kConfigMaps, {.ns = "default", .resource_version = (*before)["metadata"]["resourceVersion"]},
      [&](const kube::WatchEvent& event) -> Result<> {
        TRY(const Json shown, api::parse_json(event.object));
        seen += shown["metadata"]["name"].get<std::string>() + " ";
        if (seen.ends_with("after ")) return enough;
        return Done{};
      });
  EXPECT_EQ(seen, "between after ");
}

TEST_F(LocalKillTest, ASecondServerOnTheSameDirectoryIsRefused) {
  const auto ran = test::run({.argv = {PADDLE_LOCAL_API_CHILD, scratch_.path() + "/data"},
                              .env = test::clean_environment(scratch_.path())});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("in use by another API server"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace paddle::local
