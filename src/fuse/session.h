// SPDX-License-Identifier: Apache-2.0
//
// Serves one FUSE connection with threads that receive a request, call the handler, and reply.
//
// It starts in one of two ways:
//   - with the descriptor of a new mount: the kernel sends INIT first (again, if a predecessor died
//     before it replied); wait_ready() returns what was negotiated, for a later successor;
//   - with the descriptors and the Negotiated of a predecessor: no INIT arrives, and the kernel is
//     told to resend the requests that are unanswered. Readers do not notice.
// It ends when the mount goes away, when the connection is aborted, or by stop(). stop() leaves the
// mount as it is: a successor can continue if another process holds the descriptors; otherwise the
// connection is dead once the Session is destroyed.
//
// The thread that receives a request answers it. The number of READs that wait for the source is
// limited (read_gate.h) to fewer than there are threads, and each has a deadline that counts from
// its arrival; so a slow or dead source delays neither names nor READs of data on this node, and
// its own readers only until their deadline. No lock is held during calls of the file system or
// while a reply is written.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "fuse/buffer_pool.h"
#include "fuse/channel.h"
#include "fuse/counters.h"
#include "fuse/data_handler.h"
#include "fuse/read_gate.h"
#include "fuse/worker_pool.h"

namespace paddle::fuse {

// Longer than the source's retries of a server that refuses (source/retry.h); shorter than the
// timeout of watchdogs of training jobs that make no progress.
inline constexpr std::chrono::milliseconds kReadLimit{30'000};

struct SessionOptions {
  AttrOptions attr_options{};
  InitOptions init_options{};
  std::size_t max_misses = 64;     // maximum of READs that wait for the source
  std::size_t spare_threads = 32;  // further threads, for requests that need no source
  std::size_t idle_threads = 4;
  std::size_t kept_buffers = 8;
  std::chrono::milliseconds read_limit = kReadLimit;  // deadline of a READ that needs the source
  const Clock* clock = &system_clock();
};

enum class SessionEnd {
  kUnmounted,
  kAborted,
  kStopped,  // by stop()
  kBroken,   // an unexpected error of the descriptor; see the log
};

class Session {
 public:
  // `files` and `metrics` outlive the session. Needs at least one channel. With `resumed` the
  // session starts as a successor.
  static Result<std::unique_ptr<Session>> start(std::vector<UniqueFd> channels,
                                                samplefs::FileSystem& files, Metrics& metrics,
                                                SessionOptions options = {},
                                                std::optional<Negotiated> resumed = {});
  ~Session();  // stops

  // Blocks until INIT was answered. kDeadline, kCancelled (`stop`), kUnavailable (the session
  // ended).
  Result<Negotiated> wait_ready(std::chrono::milliseconds limit, std::stop_token stop = {});
  // Blocks until the session has ended; nothing when `stop` was requested first.
  std::optional<SessionEnd> wait_end(std::stop_token stop);
  std::optional<SessionEnd> ended() const;

  // Receives no more requests, finishes those in progress, joins all threads. Idempotent. Threads
  // that answer requests must not call it.
  void stop();

  // For notifications. Do not use it while answering a request.
  const Channel& channel() const { return *channels_.front(); }
  const Counters& counters() const { return counters_; }
  std::size_t threads() const { return pool_.size(); }

 private:
  struct Task {
    const Channel* channel = nullptr;
    Request request{};
    BootTime until{};  // of a READ that needs the source
  };

  Session(std::vector<UniqueFd> channels, samplefs::FileSystem& files, Metrics& metrics,
          const SessionOptions& options, const InitOptions& init_options);
  void loop(WorkerPool::Worker& worker);
  void serve(Task task);
  void wait_for_source(const Task& task);
  void send(const Task& task, const Answer& answer);
  void end(SessionEnd how);
  void became_ready(const Negotiated& agreed);
  void report(const Request& request, const Answer& answer);

  // Constant after construction.
  const Clock& clock_;
  const std::chrono::milliseconds read_limit_;
  std::vector<std::unique_ptr<Channel>> channels_;
  // Self-synchronised.
  Counters counters_;
  BufferPool buffers_;
  DataHandler handler_;
  ReadGate<Task> misses_;
  std::atomic<std::int64_t> next_report_ns_{0};
  std::atomic<std::uint64_t> unreported_{0};

  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<Negotiated> agreed_ GUARDED_BY(mutex_);
  std::optional<SessionEnd> end_ GUARDED_BY(mutex_);

  WorkerPool pool_;  // last: its threads use everything above
};

}  // namespace paddle::fuse
