// SPDX-License-Identifier: Apache-2.0
#include "fuse/worker_pool.h"

#include <algorithm>
#include <mutex>
#include <system_error>
#include <utility>

#include <pthread.h>
#include <signal.h>

#include "base/log.h"

namespace paddle::fuse {
namespace {

int wake_signal() { return SIGRTMIN + 5; }

void install_wake_signal() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_handler = [](int) {};  // no SA_RESTART: the point is to interrupt a call
    ::sigaction(wake_signal(), &action, nullptr);
  });
}

// Signals of the process are handled by its main thread.
void block_other_signals() {
  sigset_t all;
  ::sigfillset(&all);
  for (const int mine :
       {wake_signal(), SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    ::sigdelset(&all, mine);
  }
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

}  // namespace

WorkerPool::WorkerPool(Limits limits, Loop loop) : limits_(limits), loop_(std::move(loop)) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::start() {
  install_wake_signal();
  Lock lock(mutex_);
  for (std::size_t i = 0; i < std::min(limits_.idle, limits_.most); ++i) add();
}

void WorkerPool::add() {
  reap();
  Worker& worker = workers_.emplace_back(*this, started_);
  try {
    worker.thread_ = std::thread([this, &worker] { run(worker); });
  } catch (const std::system_error& refused) {
    workers_.pop_back();
    log::warn("no more threads for FUSE requests",
              {{"reason", refused.what()}, {"threads", live_}});
    return;
  }
  ++started_;
  ++live_;
  ++waiting_;
}

void WorkerPool::run(Worker& worker) {
  block_other_signals();
  loop_(worker);
  Lock lock(mutex_);
  worker.finished_ = true;
  --live_;
  changed_.notify_all();
}

void WorkerPool::reap() {
  for (auto at = workers_.begin(); at != workers_.end();) {
    if (!at->finished_) {
      ++at;
      continue;
    }
    at->thread_.join();
    at = workers_.erase(at);
  }
}

bool WorkerPool::Worker::waits() {
  if (!std::exchange(first_, false)) {
    Lock lock(pool_.mutex_);
    if (pool_.waiting_ >= pool_.limits_.idle) return false;
    ++pool_.waiting_;
  }
  in_call_ = true;
  if (!pool_.stopping_) return true;
  in_call_ = false;
  return false;
}

void WorkerPool::Worker::took_work() {
  in_call_ = false;
  Lock lock(pool_.mutex_);
  --pool_.waiting_;
  if (pool_.waiting_ == 0 && pool_.live_ < pool_.limits_.most && !pool_.stopping_) pool_.add();
}

void WorkerPool::stop() {
  stopping_ = true;
  // A signal may arrive between a worker's check of stopping_ and its blocking call: repeat until
  // all have ended.
  Lock lock(mutex_);
  while (live_ > 0) {
    for (Worker& worker : workers_) {
      if (!worker.finished_ && worker.in_call_) {
        ::pthread_kill(worker.thread_.native_handle(), wake_signal());
      }
    }
    changed_.wait_for(mutex_, {}, std::chrono::milliseconds{5});
  }
  reap();
}

std::size_t WorkerPool::size() const {
  Lock lock(mutex_);
  return live_;
}

}  // namespace paddle::fuse
