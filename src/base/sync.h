// SPDX-License-Identifier: Apache-2.0
//
// Mutex, Lock and CondVar that clang's thread-safety analysis understands (the `clang` preset
// turns violations into errors; under g++ the annotations are empty).
//
//   Mutex mutex_;
//   int count_ GUARDED_BY(mutex_) = 0;
//
// CondVar waits are interruptible by a stop_token; deadlines are relative.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define PADDLE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PADDLE_THREAD_ANNOTATION(x)
#endif

#define CAPABILITY(x) PADDLE_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY PADDLE_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) PADDLE_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) PADDLE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) PADDLE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) PADDLE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define EXCLUDES(...) PADDLE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRED_BEFORE(...) PADDLE_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define NO_THREAD_SAFETY_ANALYSIS PADDLE_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace paddle {

class CAPABILITY("mutex") Mutex {
 public:
  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SCOPED_CAPABILITY Lock {
 public:
  explicit Lock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() RELEASE() { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Wait functions may wake spuriously; callers loop on their own condition, written in the
// function that holds the lock so that the analysis sees it.
class CondVar {
 public:
  void notify_one() { wake_.notify_one(); }
  void notify_all() { wake_.notify_all(); }

  // Returns when notified or when `stop` is requested.
  void wait(Mutex& mutex, std::stop_token stop) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    bool woken = false;
    wake_.wait(mutex, stop, [&] { return std::exchange(woken, true); });
  }
  void wait_for(Mutex& mutex, std::stop_token stop, std::chrono::nanoseconds limit)
      REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    bool woken = false;
    wake_.wait_for(mutex, stop, limit, [&] { return std::exchange(woken, true); });
  }
  void wait(Mutex& mutex) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS { wake_.wait(mutex); }

 private:
  std::condition_variable_any wake_;
};

}  // namespace paddle
