// SPDX-License-Identifier: Apache-2.0
#include "fuse/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::fuse {
namespace {

// Work comes as messages on a socket; each one occupies its worker until released.
class WorkerPoolTest : public testing::Test {
 protected:
  WorkerPoolTest() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) ADD_FAILURE();
    ours_ = UniqueFd(ends[0]);
    theirs_ = UniqueFd(ends[1]);
  }

  void send_work() { ASSERT_EQ(::write(ours_.get(), "w", 1), 1); }

  void loop(WorkerPool::Worker& member) {
    while (member.waits()) {
      char byte = 0;
      ssize_t got = 0;
      do {
        got = ::read(theirs_.get(), &byte, 1);
      } while (got < 0 && !member.stopping());
      if (got <= 0) return;
      member.took_work();
      Lock lock(mutex_);
      ++busy_;
      ++done_;
      changed_.notify_all();
      while (!released_) changed_.wait(mutex_);
      --busy_;
      changed_.notify_all();
    }
  }

  void wait_for_busy(std::size_t count) {
    Lock lock(mutex_);
    while (busy_ != count) changed_.wait(mutex_);
  }
  void wait_for_done(std::size_t count) {
    Lock lock(mutex_);
    while (done_ != count) changed_.wait(mutex_);
  }
  void release() {
    Lock lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  UniqueFd ours_, theirs_;
  Mutex mutex_;
  CondVar changed_;
  bool released_ GUARDED_BY(mutex_) = false;
  std::size_t busy_ GUARDED_BY(mutex_) = 0;
  std::size_t done_ GUARDED_BY(mutex_) = 0;
};

TEST_F(WorkerPoolTest, GrowsWhileWorkersAreBusyAndNotBeyondItsLimit) {
  WorkerPool pool({.most = 6, .idle = 2}, [this](WorkerPool::Worker& member) { loop(member); });
  pool.start();
  for (int i = 0; i < 9; ++i) send_work();
  wait_for_busy(6);  // hangs if it does not grow
  EXPECT_EQ(pool.size(), 6u);
  release();
  wait_for_done(9);
  pool.stop();
  EXPECT_EQ(pool.size(), 0u);
}

TEST_F(WorkerPoolTest, StopWakesWorkersThatWait) {
  WorkerPool pool({.most = 4, .idle = 4}, [this](WorkerPool::Worker& member) { loop(member); });
  pool.start();
  EXPECT_EQ(pool.size(), 4u);
  pool.stop();  // hangs if one cannot be woken
  EXPECT_EQ(pool.size(), 0u);
  pool.stop();
}

TEST_F(WorkerPoolTest, WorkersBeyondTheIdleLimitEnd) {
  WorkerPool pool({.most = 8, .idle = 1}, [this](WorkerPool::Worker& member) { loop(member); });
  pool.start();
  for (int i = 0; i < 7; ++i) send_work();
  wait_for_busy(7);
  release();
  wait_for_busy(0);
  while (pool.size() > 1) std::this_thread::yield();
  send_work();
  wait_for_done(8);  // those that stayed still work
}

TEST_F(WorkerPoolTest, StopsBeforeItStarted) {
  WorkerPool pool({}, [this](WorkerPool::Worker& member) { loop(member); });
}

}  // namespace
}  // namespace paddle::fuse
