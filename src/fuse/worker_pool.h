// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for work in a blocking call, as many as are needed: when the last one that
// waits takes work, one more is started, up to a limit; when too many wait again, some leave.
//
//   loop:  while (worker.waits()) {
//            receive...; on an interrupted call: again, unless worker.stopping()
//            worker.took_work();
//            do it...
//          }
//
// Knows no FUSE. A machine that refuses a thread only makes things slower. stop() needs to wake
// threads out of system calls and uses one real-time signal for that (an empty handler is installed
// for SIGRTMIN + 5 on first use), sent only to members that wait.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <thread>

#include "base/sync.h"

namespace paddle::fuse {

class WorkerPool {
 public:
  class Worker;
  using Loop = std::function<void(Worker&)>;
  struct Limits {
    std::size_t most = 64;  // threads
    std::size_t idle = 4;   // that wait at the same time; also how many start
  };

  WorkerPool(Limits limits, Loop loop);
  ~WorkerPool();  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void start();
  // No more waiting: whoever waits is woken, whoever works finishes, all are joined. Idempotent;
  // not to be called by a worker.
  void stop();
  std::size_t size() const;

  class Worker {
   public:
    // Before the call that waits for work. False: leave the loop.
    bool waits();
    // After that call brought work. A worker that got none for good just leaves its loop.
    void took_work();
    bool stopping() const { return pool_.stopping_; }
    std::size_t number() const { return number_; }  // counts up from 0

    Worker(WorkerPool& pool, std::size_t number) : pool_(pool), number_(number) {}

   private:
    friend class WorkerPool;
    WorkerPool& pool_;
    const std::size_t number_;
    std::thread thread_{};
    std::atomic<bool> in_call_{false};
    bool first_ = true;      // counted as waiting since before it ran
    bool finished_ = false;  // guarded by pool_.mutex_
  };

 private:
  void add() REQUIRES(mutex_);
  void run(Worker& worker);
  void reap() REQUIRES(mutex_);

  const Limits limits_;
  const Loop loop_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  CondVar changed_;
  std::list<Worker> workers_ GUARDED_BY(mutex_);
  std::size_t live_ GUARDED_BY(mutex_) = 0;
  std::size_t waiting_ GUARDED_BY(mutex_) = 0;
  std::size_t started_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::fuse
