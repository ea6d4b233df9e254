// SPDX-License-Identifier: Apache-2.0
#include "csi/registrar.h"

#include <filesystem>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/sync.h"
#include "csi/test_peers.h"
#include "csi/test_sockets.h"
#include "test/support/eventually.h"

namespace paddle::csi {
namespace {

using test::eventually;

// A running registrar, a directory with both sockets, and its log.
class RegistrarTest : public testing::Test {
 protected:
  RegistrarTest() {
    log::set_sink([this](std::string_view line) {
      const Lock lock(mutex_);
      log_ += line;
    });
  }
  ~RegistrarTest() override {
    stop();
    log::set_sink({});
  }

  RegistrarOptions options() const {
    return {.csi_socket = dir_.at("csi.sock"), .kubelet_path = "/k/s", .registry = dir_.path()};
  }
  void start(const RegistrarOptions& options, const Clock& clock = system_clock()) {
    thread_ = std::jthread([this, options, &clock](std::stop_token stop) {
      auto done = run_registrar(options, clock, stop);
      const Lock lock(mutex_);
      done_ = std::move(done);
    });
  }
  // The registrar's result.
  std::optional<Result<>> stop() {
    thread_.request_stop();
    return end();
  }
  std::optional<Result<>> end() {
    if (thread_.joinable()) thread_.join();
    const Lock lock(mutex_);
    return done_;
  }
  bool logged(const std::string& text, int times = 1) {
    const Lock lock(mutex_);
    std::size_t at = 0;
    for (; times > 0; --times, ++at) {
      at = log_.find(text, at);
      if (at == std::string::npos) return false;
    }
    return true;
  }
  bool shown() const { return std::filesystem::exists(shown_); }
  bool answers() const { return bool(call_registration(shown_, "GetInfo", "")); }
  Result<std::string> notify(const std::string& bytes) const {
    return call_registration(shown_, "NotifyRegistrationStatus", bytes);
  }

  const SocketDir dir_;
  const std::string shown_ = dir_.at("a.b-reg.sock");

 private:
  Mutex mutex_;
  std::string log_ GUARDED_BY(mutex_);
  std::optional<Result<>> done_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

TEST_F(RegistrarTest, RegistersUnderTheDriversOwnNameAndLeavesNothing) {
  {
    const FakeDriver driver(dir_.at("csi.sock"), "a.b");
    start(options());
    ASSERT_TRUE(eventually([&] { return shown(); }));
    const auto info = call_registration(shown_, "GetInfo", "");
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(*info,
              field(1, "CSIPlugin") + field(2, "a.b") + field(3, "/k/s") + field(4, "1.0.0"));
    ASSERT_TRUE(notify("\x08\x01"));
    EXPECT_TRUE(eventually([&] { return logged("registered"); }));
    const auto done = stop();
    ASSERT_TRUE(done);
    EXPECT_TRUE(*done);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(RegistrarTest, PublishesNothingBeforeTheDriverIsReady) {
  ManualClock clock;  // sleeps take no time: ten seconds of probes pass at once
  start(options(), clock);
  EXPECT_TRUE(eventually([&] { return logged("waiting for the driver to answer", 2); }));
  EXPECT_FALSE(shown());
  FakeDriver driver(dir_.at("csi.sock"), "a.b", false);
  EXPECT_TRUE(eventually([&] { return logged("not ready"); }));
  EXPECT_FALSE(shown());
  driver.set_ready(true);
  EXPECT_TRUE(eventually([&] { return shown(); }));
}

TEST_F(RegistrarTest, EndsOnStopWhileItWaitsForTheDriver) {
  const UnresponsiveSocket mute(dir_.at("csi.sock"));
  start(options());
  const auto done = stop();
  ASSERT_TRUE(done);
  EXPECT_TRUE(*done);
}

TEST_F(RegistrarTest, FailsWithKubeletsReason) {
  const FakeDriver driver(dir_.at("csi.sock"), "a.b");
  start(options());
  ASSERT_TRUE(eventually([&] { return shown(); }));
  ASSERT_TRUE(notify(field(2, "no such node")));
  const auto done = end();
  ASSERT_TRUE(done);
  ASSERT_TRUE(done->is(Code::kUnavailable));
  EXPECT_EQ(done->error().message, "kubelet did not register a.b: no such node");
  EXPECT_FALSE(shown());
}

TEST_F(RegistrarTest, PublishesAVanishedSocketAgain) {
  const FakeDriver driver(dir_.at("csi.sock"), "a.b");
  start(options());
  ASSERT_TRUE(eventually([&] { return shown(); }));
  std::filesystem::remove(shown_);
  EXPECT_TRUE(eventually([&] { return shown() && answers(); }));
  EXPECT_TRUE(notify("\x08\x01"));
  EXPECT_TRUE(eventually([&] { return logged("registered"); }));
}

TEST_F(RegistrarTest, ReplacesTheSocketOfAKilledPredecessor) {
  { const UnresponsiveSocket killed(shown_); }
  { const UnresponsiveSocket killed(dir_.at(".a.b-reg.sock")); }
  ASSERT_FALSE(answers());
  const FakeDriver driver(dir_.at("csi.sock"), "a.b");
  start(options());
  EXPECT_TRUE(eventually([&] { return answers(); }));
}

TEST_F(RegistrarTest, LeavesASuccessorsSocketAloneAndPublishesAgainAfterwards) {
  const FakeDriver driver(dir_.at("csi.sock"), "a.b");
  start(options());
  ASSERT_TRUE(eventually([&] { return shown(); }));
  {
    const UnresponsiveSocket next(dir_.at("next"));
    std::filesystem::rename(dir_.at("next"), shown_);
    EXPECT_TRUE(eventually([&] { return logged("another process has replaced our socket"); }));
  }
  std::filesystem::remove(shown_);
  EXPECT_TRUE(eventually([&] { return shown() && answers(); }));
}

TEST_F(RegistrarTest, StaysRegisteredWithoutTheDriver) {
  auto driver = std::make_unique<FakeDriver>(dir_.at("csi.sock"), "a.b");
  start(options());
  ASSERT_TRUE(eventually([&] { return shown(); }));
  driver.reset();
  EXPECT_TRUE(answers());
  EXPECT_TRUE(notify("\x08\x01"));
  EXPECT_TRUE(eventually([&] { return logged("registered"); }));
  EXPECT_TRUE(shown());
}

TEST_F(RegistrarTest, PrefersTheGivenNameToTheDriversOwn) {
  const FakeDriver driver(dir_.at("csi.sock"), "other");
  auto given = options();
  given.name = "a.b";
  start(given);
  EXPECT_TRUE(eventually([&] { return answers(); }));
  EXPECT_TRUE(logged("the driver reports another name"));
}

TEST_F(RegistrarTest, RejectsInvalidOptionsInOneSentence) {
  auto relative = options();
  relative.csi_socket = "csi.sock";
  auto longest = options();
  longest.kubelet_path = "/" + std::string(107, 'a');
  auto odd = options();
  odd.name = "a/b";
  for (const auto& wrong : {relative, longest, odd}) {
    EXPECT_TRUE(run_registrar(wrong, system_clock(), {}).is(Code::kInvalid));
  }
  const FakeDriver driver(dir_.at("csi.sock"), "a.b");
  auto nowhere = options();
  nowhere.registry = dir_.at("none");
  EXPECT_TRUE(run_registrar(nowhere, system_clock(), {}).is(Code::kUnavailable));
}

}  // namespace
}  // namespace paddle::csi
