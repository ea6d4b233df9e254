// SPDX-License-Identifier: Apache-2.0
#include "os/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace paddle::os {
namespace {

using std::chrono::milliseconds;

constexpr size_t kKeptErrors = 4096;
constexpr milliseconds kTick{50};
constexpr int kBackgroundNice = 15;
// Of ioprio_set(2), which has no header: a process, and the class that is served last.
constexpr int kIoprioProcess = 1;
constexpr int kIoprioIdle = 3 << 13;
// Descriptors of the child: 0 to 2, and the one that reports why it could not be executed.
constexpr int kReportFd = 3;

Error system_error(const char* call) {
  return {Code::kInternal, std::string(call) + ": " + std::strerror(errno)};
}

struct Pipe {
  UniqueFd read{};   // does not block
  UniqueFd write{};  // of the child; above kReportFd, so that no dup2 overwrites it
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("pipe2");
  Pipe pipe{UniqueFd(ends[0]), {}};
  const UniqueFd write(ends[1]);
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  pipe.write = UniqueFd(::fcntl(write.get(), F_DUPFD_CLOEXEC, kReportFd + 1));
  if (!pipe.write) return system_error("fcntl");
  return pipe;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The file to execute, looked up as a shell does. An errno when there is none.
std::pair<std::string, int> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name, 0};
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  int cause = ENOENT;
  for (;;) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string directory(rest.substr(0, colon));
    std::string file = (directory.empty() ? "." : directory) + "/" + name;
    struct stat about {};
    if (::stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
      if (::access(file.c_str(), X_OK) == 0) return {std::move(file), 0};
      cause = errno;
    }
    if (colon == rest.size()) return {{}, cause};
    rest.remove_prefix(colon + 1);
  }
}

// All that the child needs, prepared before fork(): between fork and exec only async-signal-safe
// calls are allowed.
struct ChildSetup {
  std::string program{};
  std::vector<char*> argv{};
  std::vector<char*> env{};
  int input = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
  int fd_limit = 0;
  pid_t parent = 0;
  bool background = false;
  bool dies_with_us = false;
};

void close_other_descriptors(int limit) {
  if (::syscall(SYS_close_range, kReportFd + 1, ~0U, 0) == 0) return;
  for (int fd = kReportFd + 1; fd < limit; ++fd) ::close(fd);
}

[[noreturn]] void execute(const ChildSetup& setup) {
  ::setpgid(0, 0);
  if (setup.dies_with_us) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != setup.parent) ::_exit(127);  // it died before the call
  }
  if (setup.background) {  // as far as the system allows it
    (void)::setpriority(PRIO_PROCESS, 0, kBackgroundNice);
    (void)::syscall(SYS_ioprio_set, kIoprioProcess, 0, kIoprioIdle);
  }
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &by_default, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(setup.input, 0);
  ::dup2(setup.output, 1);
  ::dup2(setup.errors, 2);
  ::dup2(setup.report, kReportFd);
  ::fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  close_other_descriptors(setup.fd_limit);
  ::execve(setup.program.c_str(), setup.argv.data(), setup.env.data());
  const int cause = errno;
  (void)!::write(kReportFd, &cause, sizeof cause);
  ::_exit(127);
}

// fork() with all signals blocked: no handler of ours runs in the child.
pid_t fork_quietly(const ChildSetup& setup) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) execute(setup);
  const int cause = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = cause;
  return pid;
}

// A running program. Its group is killed and the program reaped when this goes out of scope early.
class Child {
 public:
  explicit Child(pid_t pid)
      : pid_(pid), exited_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  ~Child() {
    if (pid_ > 0) end(true);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int exited() const { return exited_.get(); }  // readable when it has ended
  bool suspended() const { return suspended_; }
  void suspend(bool suspend) {
    if (suspend != suspended_) ::kill(-pid_, suspend ? SIGSTOP : SIGCONT);
    suspended_ = suspend;
  }
  void terminate() {
    ::kill(-pid_, SIGTERM);
    suspend(false);
  }

  // Waits for its end and returns the exit code. As long as it is not reaped, the number of the
  // group belongs to it.
  int end(bool kill_group) {
    if (kill_group) ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_;
  UniqueFd exited_;
  bool suspended_ = false;
};

// The two output pipes, read until their end, and what is kept of them.
class Output {
 public:
  Output(const Command& command, UniqueFd out, UniqueFd err)
      : command_(command), out_(std::move(out)), err_(std::move(err)) {}

  int out() const { return out_.get(); }
  int err() const { return err_.get(); }

  // Takes one piece of each pipe; false when there was none.
  bool read() {
    const bool some = take(out_, kept_.out, kPiece);
    return take(err_, kept_.err, kPiece) || some;
  }
  // Takes what is in the pipes at this moment.
  void read_rest() {
    read_available(out_, kept_.out);
    read_available(err_, kept_.err);
  }

  Result<> check() {
    shorten(kept_.err, kKeptErrors);
    if (kept_.out.size() <= command_.max_output) return Done{};
    if (!command_.keep_only_end) {
      return Error{Code::kInvalid, "'" + command_.argv[0] + "' printed more than " +
                                       std::to_string(command_.max_output) + " bytes"};
    }
    // Not for each piece: every cut moves the rest.
    if (kept_.out.size() > 2 * command_.max_output) shorten(kept_.out, command_.max_output);
    return Done{};
  }

  CompletedProcess completed(int exit_code) {
    kept_.exit_code = exit_code;
    shorten(kept_.out, command_.max_output);
    return std::move(kept_);
  }

 private:
  static constexpr size_t kPiece = 16UL * 1024;

  static void shorten(std::string& text, size_t limit) {
    if (text.size() > limit) text.erase(0, text.size() - limit);
  }

  void read_available(UniqueFd& pipe, std::string& into) {
    int available = 0;
    if (pipe) ::ioctl(pipe.get(), FIONREAD, &available);
    for (auto rest = static_cast<size_t>(available); rest > 0;) {
      const size_t size = std::min(rest, kPiece);
      if (!take(pipe, into, size)) return;
      rest -= size;
    }
  }

  bool take(UniqueFd& pipe, std::string& into, size_t size) {
    if (!pipe) return false;
    const ssize_t got = ::read(pipe.get(), room_.data(), size);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) {
      pipe.reset();
      return false;
    }
    const std::string_view piece(room_.data(), static_cast<size_t>(got));
    into += piece;
    if (command_.on_output) command_.on_output(piece);
    return true;
  }

  const Command& command_;
  UniqueFd out_;
  UniqueFd err_;
  CompletedProcess kept_{};
  std::array<char, kPiece> room_{};
};

struct Started {
  pid_t pid = -1;
  UniqueFd out{};
  UniqueFd err{};
};

Result<Started> start(const Command& command) {
  const auto cannot_run = [&](int cause) {
    return Error{cause == ENOENT ? Code::kNotFound : Code::kInvalid,
                 "cannot run '" + command.argv[0] + "': " + std::strerror(cause)};
  };
  auto [program, missing] = find_program(command.argv[0]);
  if (missing != 0) return cannot_run(missing);
  TRY(Pipe out, make_pipe());
  Pipe err;
  if (!command.merge_errors) {
    TRY(err, make_pipe());
  }
  TRY(Pipe report, make_pipe());
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd input(::fcntl(null.get(), F_DUPFD_CLOEXEC, kReportFd + 1));
  if (!input) return system_error("open /dev/null");
  const ChildSetup setup{
      .program = std::move(program),
      .argv = pointers(command.argv),
      .env = pointers(command.env),
      .input = input.get(),
      .output = out.write.get(),
      .errors = command.merge_errors ? out.write.get() : err.write.get(),
      .report = report.write.get(),
      .fd_limit = static_cast<int>(std::clamp<long>(::sysconf(_SC_OPEN_MAX), 256, 65'536)),
      .parent = ::getpid(),
      .background = command.background,
      .dies_with_us = command.dies_with_us};
  const pid_t pid = fork_quietly(setup);
  if (pid < 0) return system_error("fork");
  ::setpgid(pid, pid);  // as the child does: it is done whichever of both runs first
  report.write.reset();
  ::fcntl(report.read.get(), F_SETFL, 0);
  int cause = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.read.get(), &cause, sizeof cause);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof cause) return Started{pid, std::move(out.read), std::move(err.read)};
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return cannot_run(cause);
}

}  // namespace

Result<CompletedProcess> run_subprocess(const Command& command, const Clock& clock,
                                        std::stop_token stop) {
  if (command.argv.empty() || command.argv[0].empty()) {
    return Error{Code::kInvalid, "no program to run"};
  }
  const BootTime deadline = command.timeout ? clock.boot() + *command.timeout : BootTime::max();
  const UniqueFd stopped(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const std::stop_callback wake(stop, [&] { ::eventfd_write(stopped.get(), 1); });
  TRY(Started started, start(command));
  Child child(started.pid);
  if (child.exited() < 0) return system_error("pidfd_open");
  Output output(command, std::move(started.out), std::move(started.err));

  const bool ticks = command.on_output || command.may_run;
  std::optional<BootTime> killed_at{};  // after `stop`
  for (;;) {
    const BootTime now = clock.boot();
    if (stop.stop_requested()) {
      if (!killed_at) {
        killed_at = now + command.termination_grace;
        if (command.termination_grace.count() > 0) child.terminate();
      }
      if (now >= *killed_at) break;
    }
    if (now >= deadline) return Error{Code::kDeadline, "'" + command.argv[0] + "' took too long"};
    if (command.may_run && !killed_at) child.suspend(!command.may_run());

    milliseconds wait = ticks || killed_at ? kTick : milliseconds{60'000};
    if (command.timeout) wait = std::min(wait, std::chrono::ceil<milliseconds>(deadline - now));
    pollfd waits[] = {{child.exited(), POLLIN, 0},
                      {killed_at ? -1 : stopped.get(), POLLIN, 0},
                      {output.out(), POLLIN, 0},
                      {output.err(), POLLIN, 0}};
    if (::poll(waits, 4, static_cast<int>(wait.count())) < 0 && errno != EINTR) {
      return system_error("poll");
    }
    const bool some = output.read();
    if (!some && command.on_output && !child.suspended()) command.on_output({});
    CHECK_DONE(output.check());
    if ((waits[0].revents & POLLIN) != 0) break;
  }
  if (killed_at) return Error{Code::kCancelled, "'" + command.argv[0] + "' was stopped"};
  const int exit_code = child.end(command.kill_leftovers);
  output.read_rest();
  CHECK_DONE(output.check());
  return output.completed(exit_code);
}

}  // namespace paddle::os
