// SPDX-License-Identifier: Apache-2.0
#include "os/process.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::os {
namespace {

constexpr size_t kKeptErrors = 4096;

struct Pipe {
  UniqueFd read{};
  UniqueFd write{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Error{Code::kInternal, std::string("pipe: ") + std::strerror(errno)};
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The child's plan: descriptors, signals and process group.
class SpawnPlan {
 public:
  SpawnPlan(int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, 1);
    posix_spawn_file_actions_adddup2(&actions_, err, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> spawn(const Command& command) const {
    const auto argv = pointers(command.argv), env = pointers(command.env);
    pid_t pid = -1;
    const int why = posix_spawnp(&pid, argv[0], &actions_, &attributes_, argv.data(), env.data());
    if (why == 0) return pid;
    return Error{why == ENOENT ? Code::kNotFound : Code::kInvalid,
                 "can not run '" + command.argv[0] + "': " + std::strerror(why)};
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Takes what is there; false at the end of the stream.
bool drain(int fd, std::string& into) {
  char piece[8192];
  for (;;) {
    const ssize_t got = ::read(fd, piece, sizeof piece);
    if (got > 0) {
      into.append(piece, static_cast<size_t>(got));
      continue;
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR);
  }
}

// A running child; reaped, and its group killed, when it goes out of scope early.
class Child {
 public:
  explicit Child(pid_t pid)
      : pid_(pid), exited_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int exited() const { return exited_.get(); }  // readable when it has ended
  int reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
  UniqueFd exited_;
};

}  // namespace

Result<Ran> run_process(const Command& command, const Clock& clock, std::stop_token stop) {
  if (command.argv.empty() || command.argv[0].empty())
    return Error{Code::kInvalid, "no program to run"};
  const BootTime deadline = clock.boot() + command.timeout;
  TRY(Pipe out, make_pipe());
  TRY(Pipe err, make_pipe());
  // The child's ends block, as any program expects of its output.
  for (const int fd : {out.write.get(), err.write.get()}) fcntl(fd, F_SETFL, 0);
  const UniqueFd stopped(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback wake(stop, [&] { eventfd_write(stopped.get(), 1); });
  TRY(const pid_t pid, SpawnPlan(out.write.get(), err.write.get()).spawn(command));
  Child child(pid);
  if (child.exited() < 0) return Error{Code::kInternal, "can not watch a child process"};
  out.write.reset();
  err.write.reset();

  Ran ran;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock.boot()).count();
    if (left <= 0) return Error{Code::kDeadline, "'" + command.argv[0] + "' took too long"};
    pollfd waits[] = {{child.exited(), POLLIN, 0},
                      {stopped.get(), POLLIN, 0},
                      {out.read.get(), POLLIN, 0},
                      {err.read.get(), POLLIN, 0}};
    if (::poll(waits, 4, static_cast<int>(std::min<std::int64_t>(left, 60'000))) < 0 &&
        errno != EINTR) {
      return Error{Code::kInternal, std::string("poll: ") + std::strerror(errno)};
    }
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    if (out.read && !drain(out.read.get(), ran.out)) out.read.reset();
    if (err.read && !drain(err.read.get(), ran.err)) err.read.reset();
    if (ran.out.size() > command.max_output) {
      return Error{Code::kInvalid, "'" + command.argv[0] + "' printed more than " +
                                       std::to_string(command.max_output) + " bytes"};
    }
    if (ran.err.size() > kKeptErrors) ran.err.erase(0, ran.err.size() - kKeptErrors);
    if ((waits[0].revents & POLLIN) == 0) continue;
    // It has ended: what it printed is in the pipes, even if a grandchild still holds them open.
    if (out.read) drain(out.read.get(), ran.out);
    if (err.read) drain(err.read.get(), ran.err);
    ran.exit_code = child.reap();
    return ran;
  }
}

}  // namespace paddle::os
