// SPDX-License-Identifier: Apache-2.0
#include "fuse/crew.h"

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

// The process's own signals belong to its main thread.
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

Crew::Crew(Limits limits, Loop loop) : limits_(limits), loop_(std::move(loop)) {}

Crew::~Crew() { stop(); }

void Crew::start() {
  install_wake_signal();
  Lock lock(mutex_);
  for (std::size_t i = 0; i < std::min(limits_.idle, limits_.most); ++i) add();
}

void Crew::add() {
  reap();
  Member& member = members_.emplace_back(*this, started_);
  try {
    member.thread_ = std::thread([this, &member] { run(member); });
  } catch (const std::system_error& refused) {
    members_.pop_back();
    log::warn("no more threads for FUSE requests",
              {{"reason", refused.what()}, {"threads", live_}});
    return;
  }
  ++started_;
  ++live_;
  ++waiting_;
}

void Crew::run(Member& member) {
  block_other_signals();
  loop_(member);
  Lock lock(mutex_);
  member.finished_ = true;
  --live_;
  changed_.notify_all();
}

void Crew::reap() {
  for (auto at = members_.begin(); at != members_.end();) {
    if (!at->finished_) {
      ++at;
      continue;
    }
    at->thread_.join();
    at = members_.erase(at);
  }
}

bool Crew::Member::waits() {
  if (!std::exchange(first_, false)) {
    Lock lock(crew_.mutex_);
    if (crew_.waiting_ >= crew_.limits_.idle) return false;
    ++crew_.waiting_;
  }
  in_call_ = true;
  if (!crew_.stopping_) return true;
  in_call_ = false;
  return false;
}

void Crew::Member::took_work() {
  in_call_ = false;
  Lock lock(crew_.mutex_);
  --crew_.waiting_;
  if (crew_.waiting_ == 0 && crew_.live_ < crew_.limits_.most && !crew_.stopping_) crew_.add();
}

void Crew::stop() {
  stopping_ = true;
  // A signal may come between a member's look at stopping_ and its call: repeat until all left.
  Lock lock(mutex_);
  while (live_ > 0) {
    for (Member& member : members_) {
      if (!member.finished_ && member.in_call_) {
        ::pthread_kill(member.thread_.native_handle(), wake_signal());
      }
    }
    changed_.wait_for(mutex_, {}, std::chrono::milliseconds{5});
  }
  reap();
}

std::size_t Crew::size() const {
  Lock lock(mutex_);
  return live_;
}

}  // namespace paddle::fuse
