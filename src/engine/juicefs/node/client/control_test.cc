// SPDX-License-Identifier: Apache-2.0
//
// A client that returns EINTR although nothing interrupted it.

#include "engine/juicefs/node/client/control.h"

#include <deque>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "engine/juicefs/node/client/fake_client.h"

namespace paddle::engine::juicefs {
namespace {

class ControlTest : public ::testing::Test {
 protected:
  void answer(std::deque<std::string> answers) { mount_.answer(std::move(answers)); }
  int requests() { return mount_.requests(); }

  FakeClient mount_{};
};

TEST_F(ControlTest, AnInterruptedRequestIsRepeated) {
  answer({kInterrupted, kInterrupted, kDone});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}));
  EXPECT_EQ(requests(), 3);
}

TEST_F(ControlTest, ARepeatedRemovalThatFindsNothingHasSucceeded) {
  answer({kInterrupted, kMissing});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}));
  EXPECT_EQ(requests(), 2);
}

TEST_F(ControlTest, RemovingAMissingPathIsNotFound) {
  answer({kMissing});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}).is(Code::kNotFound));
}

TEST_F(ControlTest, RemovesNothingThroughALinkOrInAnotherFileSystem) {
  answer({kDone, kDone, kDone});
  std::filesystem::create_directories(mount_.path() + "/real");
  std::filesystem::create_symlink("/proc", mount_.path() + "/out");
  std::filesystem::create_symlink("real", mount_.path() + "/within");
  const Control control(mount_.path());
  EXPECT_TRUE(control.remove("out/train", true, {}, {}).is(Code::kNotFound));
  EXPECT_TRUE(control.remove("within/train", true, {}, {}).is(Code::kNotFound));
  EXPECT_TRUE(Control("/").remove("proc/train", true, {}, {}).is(Code::kInvalid));
  EXPECT_TRUE(control.remove("real/train", true, {}, {}));
  EXPECT_EQ(requests(), 1);
}

TEST_F(ControlTest, ATooLongNameIsRefusedAndNotCut) {
  answer({kDone});
  EXPECT_TRUE(
      Control(mount_.path()).remove(std::string(261, 'a'), true, {}, {}).is(Code::kInvalid));
  EXPECT_EQ(requests(), 0);
}

TEST_F(ControlTest, AClientThatIsAlwaysInterruptedIsGivenUp) {
  answer(std::deque<std::string>(9, kInterrupted));
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}).is(Code::kUnavailable));
  EXPECT_EQ(requests(), 5);
}

TEST_F(ControlTest, AClientThatHangsIsReportedInsteadOfBlockingTheCaller) {
  answer({});  // reads the request and never answers
  const Control control(mount_.path(), std::chrono::milliseconds{300});
  const auto hung = control.cache(CacheAction::kWarmUp, {"/a"}, 1, {}, {});
  ASSERT_TRUE(hung.is(Code::kUnavailable)) << hung.error().message;
  EXPECT_NE(hung.error().message.find("seems to hang"), std::string::npos);
}

TEST_F(ControlTest, ACallThatIsStoppedDoesNotWaitForAClientThatHangs) {
  answer({});
  const Control control(mount_.path(), std::chrono::minutes{5});
  std::stop_source stop;
  std::jthread later([&] {
    system_clock().sleep(std::chrono::milliseconds{100}, {});
    stop.request_stop();
  });
  EXPECT_TRUE(
      control.cache(CacheAction::kWarmUp, {"/a"}, 1, {}, stop.get_token()).is(Code::kCancelled));
}

TEST_F(ControlTest, AWatchedCallHasTheSameResult) {
  answer({kInterrupted, kDone});
  const Control control(mount_.path(), std::chrono::minutes{5});
  EXPECT_TRUE(control.remove("old", true, {}, {}));
  EXPECT_EQ(requests(), 2);
}

}  // namespace
}  // namespace paddle::engine::juicefs
