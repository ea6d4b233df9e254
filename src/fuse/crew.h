// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for work in a blocking call, as many as are needed: when the last one that
// waits takes work, one more is started, up to a limit; when too many wait again, some leave.
//
//   loop:  while (member.waits()) {
//            receive...; on an interrupted call: again, unless member.stopping()
//            member.took_work();
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

class Crew {
 public:
  class Member;
  using Loop = std::function<void(Member&)>;
  struct Limits {
    std::size_t most = 64;  // threads
    std::size_t idle = 4;   // that wait at the same time; also how many start
  };

  Crew(Limits limits, Loop loop);
  ~Crew();  // stops
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void start();
  // No more waiting: whoever waits is woken, whoever works finishes, all are joined. Idempotent;
  // not to be called by a member.
  void stop();
  std::size_t size() const;

  class Member {
   public:
    // Before the call that waits for work. False: leave the loop.
    bool waits();
    // After that call brought work. A member that got none for good just leaves its loop.
    void took_work();
    bool stopping() const { return crew_.stopping_; }
    std::size_t number() const { return number_; }  // counts up from 0

    Member(Crew& crew, std::size_t number) : crew_(crew), number_(number) {}

   private:
    friend class Crew;
    Crew& crew_;
    const std::size_t number_;
    std::thread thread_{};
    std::atomic<bool> in_call_{false};
    bool first_ = true;      // counted as waiting since before it ran
    bool finished_ = false;  // guarded by crew_.mutex_
  };

 private:
  void add() REQUIRES(mutex_);
  void run(Member& member);
  void reap() REQUIRES(mutex_);

  const Limits limits_;
  const Loop loop_;
  std::atomic<bool> stopping_{false};
  mutable Mutex mutex_;
  CondVar changed_;
  std::list<Member> members_ GUARDED_BY(mutex_);
  std::size_t live_ GUARDED_BY(mutex_) = 0;
  std::size_t waiting_ GUARDED_BY(mutex_) = 0;
  std::size_t started_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::fuse
