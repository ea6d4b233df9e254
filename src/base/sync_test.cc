// SPDX-License-Identifier: Apache-2.0
#include "base/sync.h"

#include <thread>

#include <gtest/gtest.h>

namespace paddle {
namespace {

using namespace std::chrono_literals;

struct Box {
  Mutex mutex;
  CondVar changed;
  int value GUARDED_BY(mutex) = 0;
};

TEST(CondVar, WakesOnNotifyAndOnStop) {
  Box box;
  std::jthread waiter([&](std::stop_token stop) {
    Lock lock(box.mutex);
    while (box.value == 0 && !stop.stop_requested()) box.changed.wait(box.mutex, stop);
    if (box.value == 1) box.value = 2;
  });
  {
    Lock lock(box.mutex);
    box.value = 1;
  }
  box.changed.notify_all();
  waiter.join();
  Lock lock(box.mutex);
  EXPECT_EQ(box.value, 2);
}

TEST(CondVar, AStopEndsAWaitWithoutANotification) {
  Box box;
  std::jthread waiter([&](std::stop_token stop) {
    Lock lock(box.mutex);
    while (!stop.stop_requested()) box.changed.wait_for(box.mutex, stop, 1h);
  });
  waiter.request_stop();
  waiter.join();
}

}  // namespace
}  // namespace paddle
