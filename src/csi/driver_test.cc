// SPDX-License-Identifier: Apache-2.0
#include "csi/driver.h"

#include <thread>

#include <gtest/gtest.h>

#include "csi/test_peers.h"
#include "csi/test_sockets.h"

namespace paddle::csi {
namespace {

constexpr std::chrono::seconds kLong{60};

TEST(GetDriverInfo, ReturnsNameAndVersion) {
  const SocketDir dir;
  const FakeDriver driver(dir.at("csi.sock"), "csi.example.com");
  const auto info = get_driver_info(dir.at("csi.sock"), kLong, {});
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(*info, (DriverInfo{.name = "csi.example.com", .version = "7"}));
}

TEST(GetDriverInfo, IsUnavailableAtOnceWhenNoDriverListens) {
  const SocketDir dir;
  EXPECT_TRUE(get_driver_info(dir.at("csi.sock"), kLong, {}).is(Code::kUnavailable));
  { const UnresponsiveSocket killed(dir.at("csi.sock")); }
  EXPECT_TRUE(get_driver_info(dir.at("csi.sock"), kLong, {}).is(Code::kUnavailable));
}

TEST(GetDriverInfo, FailsUntilTheDriverIsReady) {
  const SocketDir dir;
  FakeDriver driver(dir.at("csi.sock"), "a", false);
  const auto info = get_driver_info(dir.at("csi.sock"), kLong, {});
  ASSERT_TRUE(info.is(Code::kUnavailable));
  EXPECT_NE(info.error().message.find("not ready"), std::string::npos);
  driver.set_ready(true);
  EXPECT_TRUE(get_driver_info(dir.at("csi.sock"), kLong, {}));
}

TEST(GetDriverInfo, WaitsNoLongerThanItsLimitForASilentDriver) {
  const SocketDir dir;
  const UnresponsiveSocket mute(dir.at("csi.sock"));
  const auto info = get_driver_info(dir.at("csi.sock"), std::chrono::milliseconds{100}, {});
  ASSERT_FALSE(info);
  EXPECT_TRUE(info.error().retryable()) << info.error().message;
}

TEST(GetDriverInfo, EndsOnStop) {
  const SocketDir dir;
  const UnresponsiveSocket mute(dir.at("csi.sock"));
  std::stop_source source;
  std::jthread stopper([&] { source.request_stop(); });
  EXPECT_TRUE(get_driver_info(dir.at("csi.sock"), kLong, source.get_token()).is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::csi
