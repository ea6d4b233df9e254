// SPDX-License-Identifier: Apache-2.0
//
// Serves one FUSE connection: threads that receive, ask the handler, and reply.
//
// Ways to begin:
//   - with the descriptor of a fresh mount: the kernel sends INIT first (again, if a predecessor
//   died
//     over it); wait_ready() returns what was agreed on, for whoever may start a successor;
//   - with descriptors that another process served before and what it had agreed on: no INIT comes,
//     and the kernel is asked to send again what was left unanswered. No reader notices.
// Ways to end: the mount goes away, the connection is aborted, or stop(). stop() alone leaves the
// mount as it is: when somebody else holds the descriptors a successor can go on; when nobody does,
// the connection is dead once the Session is destroyed.
//
// The thread that receives a request answers it. READs that have to wait for the source are limited
// (read_gate.h) to fewer than there are threads, and each has a deadline from the moment it came;
// so a source that is slow or dead holds up nothing else, neither names nor READs of what this node
// has, and its own readers not for ever. No lock is held while the file system works or a reply is
// written.

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

// Longer than the source's own retries of a server that refuses (source/retry.h); shorter than what
// watches over a training job that makes no progress.
inline constexpr std::chrono::milliseconds kReadLimit{30'000};

struct SessionOptions {
  AttrOptions attr_options{};
  InitOptions init_options{};
  std::size_t max_misses = 64;     // READs that wait for the source at once
  std::size_t spare_threads = 32;  // threads beyond those: for all that needs no source
  std::size_t idle_threads = 4;
  std::size_t kept_buffers = 8;
  std::chrono::milliseconds read_limit = kReadLimit;  // of a READ that needs the source
  const Clock* clock = &system_clock();
};

enum class SessionEnd {
  kUnmounted,
  kAborted,
  kStopped,  // by stop()
  kBroken,   // the descriptor failed in a way that has no name; see the log
};

class Session {
 public:
  // `files` and `metrics` outlive the session. At least one channel. With `resumed` it is a
  // successor's start.
  static Result<std::unique_ptr<Session>> start(std::vector<UniqueFd> channels,
                                                samplefs::FileSystem& files, Metrics& metrics,
                                                SessionOptions options = {},
                                                std::optional<Negotiated> resumed = {});
  ~Session();  // stops

  // After INIT was answered. kDeadline, kCancelled (stop asked for), kUnavailable (ended before).
  Result<Negotiated> wait_ready(std::chrono::milliseconds limit, std::stop_token stop = {});
  // Blocks until the session has ended; nothing when `stop` was asked for first.
  std::optional<SessionEnd> wait_end(std::stop_token stop);
  std::optional<SessionEnd> ended() const;

  // Takes no more requests, finishes those at work, joins all threads. Idempotent. Not to be called
  // by a thread that answers requests.
  void stop();

  // For notifications. Never use it while answering a request.
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
