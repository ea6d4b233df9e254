// SPDX-License-Identifier: Apache-2.0
#include "fuse/session.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

#include "base/log.h"

namespace paddle::fuse {
namespace {

constexpr std::chrono::nanoseconds kReportEvery = std::chrono::seconds{1};

std::vector<std::unique_ptr<Channel>> wrap(std::vector<UniqueFd> fds) {
  std::vector<std::unique_ptr<Channel>> channels;
  for (UniqueFd& fd : fds) channels.push_back(std::make_unique<Channel>(std::move(fd)));
  return channels;
}

SessionEnd end_of(ChannelStatus status) {
  switch (status) {
    case ChannelStatus::kUnmounted:
      return SessionEnd::kUnmounted;
    case ChannelStatus::kAborted:
      return SessionEnd::kAborted;
    case ChannelStatus::kOk:
    case ChannelStatus::kAgain:
    case ChannelStatus::kBroken:
      break;
  }
  return SessionEnd::kBroken;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::start(std::vector<UniqueFd> channels,
                                                samplefs::FileSystem& files, Metrics& metrics,
                                                SessionOptions options,
                                                std::optional<Negotiated> resumed) {
  if (channels.empty() || options.max_misses == 0 || options.spare_threads == 0) {
    return Error{Code::kInvalid,
                 "a FUSE session needs at least one channel, one read and one spare thread"};
  }
  InitOptions init_options = options.init_options;
  init_options.page_size = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  if (resumed) init_options.max_read = resumed->max_read;
  // The constructor is private, so make_unique cannot call it.
  std::unique_ptr<Session> session(
      new Session(std::move(channels), files, metrics, options, init_options));
  if (resumed) {
    session->handler_.resume(*resumed);
    session->became_ready(*resumed);
    if (resumed->can_resend()) CHECK_DONE(session->channel().resend());
  } else if (auto asked = session->channel().resend(); !asked) {
    // A predecessor may have died with INIT unanswered. Without a predecessor this has no effect; a
    // kernel that cannot resend returns an error.
    log::debug("no resend on this kernel", {{"reason", asked.error().message}});
  }
  session->pool_.start();
  if (session->threads() == 0) return Error{Code::kUnavailable, "no thread for FUSE requests"};
  return session;
}

Session::Session(std::vector<UniqueFd> channels, samplefs::FileSystem& files, Metrics& metrics,
                 const SessionOptions& options, const InitOptions& init_options)
    : clock_(*options.clock),
      read_limit_(options.read_limit),
      channels_(wrap(std::move(channels))),
      counters_(metrics),
      buffers_(init_options.max_read, options.kept_buffers),
      handler_(files,
               HandlerOptions{options.attr_options, init_options,
                              [this](const Negotiated& agreed) { became_ready(agreed); },
                              [this] { counters_.skipped_name(); }},
               buffers_),
      misses_(options.max_misses),
      pool_({options.max_misses + options.spare_threads, options.idle_threads},
            [this](WorkerPool::Worker& worker) { loop(worker); }) {}

Session::~Session() { stop(); }

void Session::loop(WorkerPool::Worker& worker) {
  const Channel& channel = *channels_[worker.number() % channels_.size()];
  const auto buffer = std::make_unique<std::byte[]>(kRequestBuffer);
  while (worker.waits()) {
    Received got;
    do {
      got = channel.receive({buffer.get(), kRequestBuffer});
    } while (got.status == ChannelStatus::kAgain && !worker.stopping());
    if (got.status == ChannelStatus::kAgain) return;  // stopping
    if (got.status != ChannelStatus::kOk) return end(end_of(got.status));
    worker.took_work();

    const auto request = decode({buffer.get(), got.size});
    if (!request) {
      log::error("unreadable FUSE request", {{"bytes", got.size}});
      continue;
    }
    serve({&channel, *request, {}});
  }
}

void Session::serve(Task task) {
  const Answer answer = handler_.answer(task.request);
  if (!answer.needs_source) return send(task, answer);
  task.until = clock_.boot() + read_limit_;
  if (!misses_.enter(task)) return;
  wait_for_source(task);
  while (const auto next = misses_.leave()) wait_for_source(*next);
}

void Session::wait_for_source(const Task& task) {
  send(task, handler_.answer_from_source(task.request, task.until));
}

void Session::send(const Task& task, const Answer& answer) {
  const Request& request = task.request;
  counters_.answered(request.opcode, answer.error, answer.body().size());
  if (!answer.reason.message.empty()) report(request, answer);
  if (answer.silent) return;
  if (task.channel->reply(request.unique, answer.error, answer.body()) != ChannelStatus::kBroken)
    return;
  // The kernel rejected the reply; an unanswered request would block its process.
  log::error("the kernel rejected a reply", {{"op", opcode_name(request.opcode)}});
  if (answer.error == 0) task.channel->reply(request.unique, EIO, {});
}

void Session::report(const Request& request, const Answer& answer) {
  const std::int64_t now = clock_.boot().time_since_epoch().count();
  std::int64_t due = next_report_ns_;
  if (now < due || !next_report_ns_.compare_exchange_strong(due, now + kReportEvery.count())) {
    ++unreported_;
    return;
  }
  log::warn("FUSE request failed", {{"op", opcode_name(request.opcode)},
                                    {"node", request.node},
                                    {"errno", answer.error},
                                    {"reason", answer.reason.message},
                                    {"others_since", unreported_.exchange(0)}});
}

void Session::became_ready(const Negotiated& agreed) {
  Lock lock(mutex_);
  agreed_ = agreed;
  changed_.notify_all();
}

void Session::end(SessionEnd how) {
  Lock lock(mutex_);
  if (!end_) end_ = how;
  changed_.notify_all();
}

Result<Negotiated> Session::wait_ready(std::chrono::milliseconds limit, std::stop_token stop) {
  const BootTime deadline = clock_.boot() + limit;
  Lock lock(mutex_);
  while (!agreed_) {
    if (end_) return Error{Code::kUnavailable, "the FUSE session ended before INIT"};
    if (stop.stop_requested()) return Error{Code::kCancelled, "waiting for INIT was cancelled"};
    const auto left = deadline - clock_.boot();
    if (left.count() <= 0) return Error{Code::kDeadline, "no INIT from the kernel"};
    changed_.wait_for(mutex_, stop, left);
  }
  return *agreed_;
}

std::optional<SessionEnd> Session::wait_end(std::stop_token stop) {
  Lock lock(mutex_);
  while (!end_ && !stop.stop_requested()) changed_.wait(mutex_, stop);
  return end_;
}

std::optional<SessionEnd> Session::ended() const {
  Lock lock(mutex_);
  return end_;
}

void Session::stop() {
  pool_.stop();
  end(SessionEnd::kStopped);
}

}  // namespace paddle::fuse
