// SPDX-License-Identifier: Apache-2.0
//
// A client that says `interrupted` to questions which nobody interrupted: its control file is a
// terminal here, and the test sits at the other end.

#include "engine/juicefs/node/control.h"

#include <cerrno>
#include <deque>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/unique_fd.h"

namespace paddle::engine::juicefs {
namespace {

const std::string kInterrupted(1, static_cast<char>(EINTR));
const std::string kMissing(1, static_cast<char>(ENOENT));
const std::string kDone(1, '\0');

class ControlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::grantpt(master_.get()), 0);
    ASSERT_EQ(::unlockpt(master_.get()), 0);
    const std::string terminal = ::ptsname(master_.get());
    slave_ = UniqueFd(::open(terminal.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(slave_);
    termios raw{};
    ASSERT_EQ(::tcgetattr(slave_.get(), &raw), 0);
    ::cfmakeraw(&raw);
    ASSERT_EQ(::tcsetattr(slave_.get(), TCSANOW, &raw), 0);
    ASSERT_EQ(::symlink(terminal.c_str(), (mount_.path() + "/.control").c_str()), 0);
  }

  // One answer to each question, in this order.
  void answer(std::deque<std::string> answers) {
    client_ = std::jthread([this, answers = std::move(answers)](std::stop_token stop) mutable {
      std::string question;
      while (!stop.stop_requested()) {
        pollfd ready{.fd = master_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 20) <= 0) continue;
        char room[512];
        const ssize_t got = ::read(master_.get(), room, sizeof room);
        if (got > 0) question.append(room, static_cast<std::size_t>(got));
        if (question.size() < 8 || question.size() < 8 + std::size_t(std::uint8_t(question[7]))) {
          continue;
        }
        question.clear();
        ++asked_;
        if (answers.empty()) continue;
        ASSERT_GT(::write(master_.get(), answers.front().data(), answers.front().size()), 0);
        answers.pop_front();
      }
    });
  }
  int asked() {
    client_ = {};
    return asked_;
  }

  const Scratch mount_{};
  UniqueFd master_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  UniqueFd slave_{};
  int asked_ = 0;
  std::jthread client_{};
};

TEST_F(ControlTest, WhatWasInterruptedIsAskedAgain) {
  answer({kInterrupted, kInterrupted, kDone});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}));
  EXPECT_EQ(asked(), 3);
}

TEST_F(ControlTest, WhatIsGoneWhenAskedAgainWasRemovedTheTimeBefore) {
  answer({kInterrupted, kMissing});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}));
  EXPECT_EQ(asked(), 2);
}

TEST_F(ControlTest, WhatWasNeverThereIsNotFound) {
  answer({kMissing});
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}).is(Code::kNotFound));
}

TEST_F(ControlTest, AClientThatIsAlwaysInterruptedIsNotAskedForEver) {
  answer(std::deque<std::string>(9, kInterrupted));
  EXPECT_TRUE(Control(mount_.path()).remove("old", true, {}, {}).is(Code::kUnavailable));
  EXPECT_EQ(asked(), 5);
}

}  // namespace
}  // namespace paddle::engine::juicefs
