// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/controller.h"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

#include "test/support/until.h"

namespace paddle::controllers {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;

using test::until;

struct ControllerTest : ::testing::Test {
  Metrics metrics{};
  Random random{5};
  const ObjectKey key{"ns", "a"};
  std::atomic<int> passes{0};

  std::unique_ptr<Controller> running(Reconcile reconcile, int workers = 1) {
    auto made = std::make_unique<Controller>(
        ControllerOptions{.name = "test",
                          .workers = workers,
                          .limits = {.first_pause = milliseconds{1}, .jitter = 0}},
        std::move(reconcile), system_clock(), random, metrics);
    made->start();
    return made;
  }
  bool counted(const std::string& outcome, int count) {
    const auto line = "paddle_reconcile_total{controller=\"test\",outcome=\"" + outcome + "\"} " +
                      std::to_string(count) + "\n";
    return metrics.text().find(line) != std::string::npos;
  }
};

TEST_F(ControllerTest, ADonePassIsNotRepeated) {
  auto controller = running([&](const ObjectKey& seen, std::stop_token) -> Result<ReconcileResult> {
    EXPECT_EQ(seen, key);
    ++passes;
    return ReconcileResult{};
  });
  controller->queue().add(key);
  until([&] { return counted("done", 1); });
  EXPECT_TRUE(controller->drain(minutes{1}));
  EXPECT_EQ(passes, 1);
}

TEST_F(ControllerTest, ARequestedRequeueHappens) {
  auto controller = running([&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
    return ++passes < 3 ? ReconcileResult{milliseconds{1}} : ReconcileResult{};
  });
  controller->queue().add(key);
  until([&] { return counted("again", 2) && counted("done", 1); });
}

TEST_F(ControllerTest, RetryableErrorsAreRetried) {
  const std::vector<Code> codes{Code::kConflict,     Code::kUnavailable, Code::kThrottled,
                                Code::kForbidden,    Code::kNotFound,    Code::kDeadline,
                                Code::kUnauthorized, Code::kInternal,    Code::kExpired,
                                Code::kAlreadyExists};
  auto controller = running([&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
    const auto n = static_cast<size_t>(passes++);
    if (n < codes.size()) return Error{codes[n], "not yet"};
    return ReconcileResult{};
  });
  controller->queue().add(key);
  until([&] { return counted("done", 1); });
  EXPECT_TRUE(counted("retry", static_cast<int>(codes.size())));
}

TEST_F(ControllerTest, ATerminalErrorWaitsForTheObjectToChange) {
  auto controller = running([&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
    if (++passes == 1) return Error{Code::kInvalid, "bad spec"};
    return ReconcileResult{};
  });
  controller->queue().add(key);
  until([&] { return counted("terminal", 1); });
  EXPECT_TRUE(controller->queue().wait_idle(minutes{1}));
  EXPECT_EQ(passes, 1);
  controller->queue().add(key);
  until([&] { return counted("done", 1); });
}

TEST_F(ControllerTest, AnExceptionIsCountedAsPanickedAndRetried) {
  auto controller = running([&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
    switch (++passes) {
      case 1:
        throw std::runtime_error("oh");
      case 2:
        throw 7;
      default:
        return ReconcileResult{};
    }
  });
  controller->queue().add(key);
  until([&] { return counted("done", 1); });
  EXPECT_TRUE(counted("panicked", 2));
}

TEST_F(ControllerTest, ThePauseThatTheServerRequestedIsKept) {
  auto controller = running([&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
    ++passes;
    return Error{Code::kThrottled, "slow down", hours{1}};
  });
  controller->queue().add(key);
  until([&] { return counted("retry", 1); });
  controller->queue().add(key);  // a change does not shorten the pause
  controller->queue().add({"ns", "b"});
  until([&] { return counted("retry", 2); });
  EXPECT_EQ(passes, 2);
}

TEST_F(ControllerTest, StoppingCancelsThePassAndTheKeyIsProcessedAgainLater) {
  std::atomic<bool> inside{false};
  auto controller = running([&](const ObjectKey&, std::stop_token stop) -> Result<ReconcileResult> {
    if (++passes > 1) return ReconcileResult{};
    inside = true;
    system_clock().sleep(hours{1}, stop);
    return Error{Code::kCancelled, "told to stop"};
  });
  controller->queue().add(key);
  until([&] { return inside.load(); });
  controller->stop();
  EXPECT_TRUE(counted("stopped", 1));
  EXPECT_EQ(controller->queue().depth(), 1u);
  controller->start();
  until([&] { return counted("done", 1); });
}

TEST_F(ControllerTest, DrainingLetsThePassFinishAndStartsNoOther) {
  std::atomic<bool> inside{false}, finish{false};
  auto controller = running([&](const ObjectKey&, std::stop_token stop) -> Result<ReconcileResult> {
    ++passes;
    inside = true;
    until([&] { return finish.load(); });
    EXPECT_FALSE(stop.stop_requested());
    return ReconcileResult{};
  });
  controller->queue().add(key);
  controller->queue().add({"ns", "b"});
  until([&] { return inside.load(); });
  EXPECT_FALSE(controller->drain(milliseconds{1}));
  finish = true;
  EXPECT_TRUE(controller->drain(minutes{1}));
  controller->start();
  EXPECT_EQ(passes, 1);
}

}  // namespace
}  // namespace paddle::controllers
