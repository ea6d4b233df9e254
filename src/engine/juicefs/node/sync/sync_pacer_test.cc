// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/sync_pacer.h"

#include <future>

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(SyncPacer, DoesNotWaitForAMountThatHangs) {
  std::promise<void> answers;
  const auto asked = std::make_shared<std::promise<void>>();
  {
    const SyncPacer pacer([asked, answer = answers.get_future().share()] {
      asked->set_value();
      answer.wait();
      return -1.0;
    });
    asked->get_future().wait();
    EXPECT_TRUE(pacer.runs_now());
  }
  answers.set_value();
}

}  // namespace
}  // namespace paddle::engine::juicefs
