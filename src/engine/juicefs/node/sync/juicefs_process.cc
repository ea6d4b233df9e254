// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

constexpr int kPollMilliseconds = 50;
constexpr int kBackgroundNice = 15;
// Of ioprio_set(2), which has no header: this process, and the class that gets what is left over.
constexpr int kIoprioProcess = 1;
constexpr int kIoprioIdle = 3 << 13;

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const auto& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

// After fork: only calls that are safe there.
[[noreturn]] void become(char* const* argv, char* const* env, bool background, int output,
                         int failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (background) {  // as well as it can be had
    (void)::setpriority(PRIO_PROCESS, 0, kBackgroundNice);
    (void)::syscall(SYS_ioprio_set, kIoprioProcess, 0, kIoprioIdle);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
  ::execve(argv[0], argv, env);
  const int number = errno;
  (void)!::write(failure, &number, sizeof number);
  ::_exit(127);
}

// Whoever is in the group; the child itself is still there as a zombie, so the number is its own.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  ~ChildProcess() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void terminate() {
    ::kill(-pid_, SIGTERM);
    suspend(false);
  }
  void suspend(bool suspended) {
    if (suspended != suspended_) ::kill(-pid_, suspended ? SIGSTOP : SIGCONT);
    suspended_ = suspended;
  }
  bool suspended() const { return suspended_; }

  // After the end of its output: its exit code.
  int reap() {
    siginfo_t seen{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    ::kill(-pid_, SIGKILL);  // what it left behind
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t pid_;
  bool suspended_ = false;
};

Result<pid_t> start(const ChildCommand& command, UniqueFd& output) {
  std::array<int, 2> pipe{};
  std::array<int, 2> failure{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return failed("make a pipe");
  output = UniqueFd(pipe[0]);
  const UniqueFd output_end(pipe[1]);
  if (::pipe2(failure.data(), O_CLOEXEC) != 0) return failed("make a pipe");
  const UniqueFd failure_read(failure[0]);
  UniqueFd failure_end(failure[1]);

  const auto argv = pointers(command.argv);
  const auto env = pointers(command.env);
  const pid_t pid = ::fork();
  if (pid < 0) return failed("start '" + command.argv[0] + "'");
  if (pid == 0) {
    become(argv.data(), env.data(), command.background, output_end.get(), failure_end.get());
  }
  ::setpgid(pid, pid);
  failure_end.reset();
  int number = 0;
  if (::read(failure_read.get(), &number, sizeof number) == sizeof number) {
    ::waitpid(pid, nullptr, 0);
    errno = number;
    return failed("start '" + command.argv[0] + "'");
  }
  return pid;
}

void keep_end(std::string& output, std::string_view piece) {
  output.append(piece);
  if (output.size() > 2 * kOutputLimit) output.erase(0, output.size() - kOutputLimit);
}

}  // namespace

Result<ChildResult> run_child(const ChildCommand& command, std::stop_token stop,
                              const ChildListener& listener, const ChildGate& gate) {
  UniqueFd output;
  TRY(const pid_t pid, start(command, output));
  ChildProcess child(pid);
  ChildResult end;
  bool stopping = false;
  BootTime kill_at{};
  std::array<char, 16 * 1024> room{};
  for (;;) {
    if (stop.stop_requested() && !stopping) {
      stopping = true;
      kill_at = system_clock().boot() + kChildKillDelay;
      child.terminate();
    }
    if (stopping && system_clock().boot() > kill_at) break;  // killed by its owner's end
    if (gate && !stopping) child.suspend(!gate());
    pollfd ready{.fd = output.get(), .events = POLLIN, .revents = 0};
    const int seen = ::poll(&ready, 1, kPollMilliseconds);
    if (seen < 0 && errno != EINTR) return failed("wait for '" + command.argv[0] + "'");
    if (seen <= 0) {
      if (listener && !child.suspended()) listener({});
      continue;
    }
    const ssize_t got = ::read(output.get(), room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string_view piece(room.data(), static_cast<std::size_t>(got));
    keep_end(end.output, piece);
    if (listener) listener(piece);
  }
  if (stopping) {
    return Error{Code::kCancelled, "'" + command.argv[0] + "' was stopped"};
  }
  end.exit_code = child.reap();
  if (end.output.size() > kOutputLimit) end.output.erase(0, end.output.size() - kOutputLimit);
  return end;
}

}  // namespace paddle::engine::juicefs
