// SPDX-License-Identifier: Apache-2.0
// The etcd client against a real etcd: the suite of all stores, a server that is killed and
// restarted, and two endpoints one of which is unreachable.
#include <optional>

#include "base/clock.h"
#include "etcd/client.h"
#include "etcd/store_suite.h"
#include "test/support/components.h"
#include "test/support/eventually.h"
#include "test/support/keeper.h"
#include "test/support/ports.h"

namespace paddle::etcd {
namespace {

using test::Keeper;
using test::ReservedPort;

class RealEtcd {
 public:
  static RealEtcd& shared() {
    static RealEtcd one;
    return one;
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(client_->number()); }

  Result<> start() {
    if (!keeper_) {
      TRY(keeper_, Keeper::start());
      TRY(client_, ReservedPort::any());
      TRY(peer_, ReservedPort::any());
    }
    if (running_ != 0) return Done{};
    TRY(const std::string program, test::component("etcd"));
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_->number());
    const std::string home = keeper_->directory();
    TRY(running_,
        keeper_->spawn(
            {.argv = {program, "--data-dir=" + home + "/data", "--listen-client-urls=" + url(),
                      "--advertise-client-urls=" + url(), "--listen-peer-urls=" + peer,
                      "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer},
             .env = test::clean_environment(home),
             .directory = home,
             .log = home + "/etcd.log"}));
    Client client({.endpoints = {url()}});
    if (!test::eventually([&] { return bool(client.get("/ready", {})); })) {
      return Error{Code::kUnavailable, "etcd says:\n" + test::tail(home + "/etcd.log", 20)};
    }
    return Done{};
  }

  Result<> kill() { return keeper_->kill(std::exchange(running_, 0)); }
  void end() { keeper_.reset(); }

 private:
  std::unique_ptr<Keeper> keeper_;
  std::optional<ReservedPort> client_;
  std::optional<ReservedPort> peer_;
  pid_t running_ = 0;
};

// Ends the server when all tests have run: a keeper must not live until static destruction.
class Ending : public testing::Environment {
 public:
  void TearDown() override { RealEtcd::shared().end(); }
};
[[maybe_unused]] const auto* const kEnding = testing::AddGlobalTestEnvironment(new Ending);

std::shared_ptr<Store> real() {
  const auto started = RealEtcd::shared().start();
  EXPECT_TRUE(started) << started.error().message;
  if (!started) return nullptr;
  return std::make_shared<Client>(ClientOptions{.endpoints = {RealEtcd::shared().url()}});
}

INSTANTIATE_TEST_SUITE_P(Real, StoreSuite, testing::Values(StoreTarget{"Etcd", real}),
                         [](const auto& one) { return one.param.name; });

TEST(RealEtcdTest, KeepsItsDataWhenItIsKilledAndTheClientReconnects) {
  const auto store = real();
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put("/killed/np", "3"));
  ASSERT_TRUE(RealEtcd::shared().kill());
  const auto away = store->get("/killed/np");
  ASSERT_FALSE(away);
  EXPECT_TRUE(away.error().retryable()) << away.error().message;
  ASSERT_TRUE(RealEtcd::shared().start());
  const auto back = store->get("/killed/np");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ((**back).value, "3");
}

TEST(RealEtcdTest, AnUnreachableEndpointIsSkipped) {
  ASSERT_TRUE(real());
  const auto unused = ReservedPort::any();
  ASSERT_TRUE(unused);
  Client client({.endpoints = {"http://127.0.0.1:" + std::to_string(unused->number()),
                               RealEtcd::shared().url()}});
  ASSERT_TRUE(client.put("/passed/over", "1", {}));
  EXPECT_EQ((**client.get("/passed/over", {})).value, "1");
}

}  // namespace
}  // namespace paddle::etcd
