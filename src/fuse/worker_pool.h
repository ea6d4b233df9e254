// SPDX-License-Identifier: Apache-2.0
//
// A pool of threads that wait for work in a blocking call. When the last waiting thread takes work,
// another one is started, up to a limit; when too many wait, some end.
//
//   loop:  while (worker.waits()) {
//            receive...; on an interrupted call: again, unless worker.stopping()
//            worker.took_work();
//            do it...
//          }
//
// Independent of FUSE. If a thread cannot be started, the pool works with fewer. stop() interrupts
// blocking system calls with a real-time signal (the first use installs an empty handler for
// SIGRTMIN + 5), which is sent only to waiting workers.

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
    std::size_t idle = 4;   // maximum that wait at once; start() starts that many
  };

  WorkerPool(Limits limits, Loop loop);
  ~WorkerPool();  // stops
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void start();
  // Wakes waiting workers, lets running ones finish, and joins all. Idempotent; workers must not
  // call it.
  void stop();
  std::size_t size() const;

  class Worker {
   public:
    // Call it before the blocking call. False: leave the loop.
    bool waits();
    // Call it when the blocking call returned work. A worker that will get none leaves its loop.
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
    bool first_ = true;      // the pool counted it as waiting before it ran
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
