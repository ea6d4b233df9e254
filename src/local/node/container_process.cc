// SPDX-License-Identifier: Apache-2.0
#include "local/node/container_process.h"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/node/container_init.h"
#include "local/node/os_error.h"

namespace paddle::local {
namespace {

struct Pipe {
  UniqueFd read{};
  UniqueFd write{};
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return os_error("create a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<UniqueFd> in_memory(const std::string& text) {
  UniqueFd fd(memfd_create("plan", MFD_CLOEXEC));
  if (!fd) return os_error("create a memfd for the container plan");
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd.get(), text.data() + done, text.size() - done);
    if (wrote < 0) return os_error("write the container plan");
    done += static_cast<size_t>(wrote);
  }
  lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

struct Started {
  int pid = -1;
  UniqueFd pid_fd{};
};

// Between fork and exec only async-signal-safe calls: other threads may hold any lock.
Result<Started> spawn(const std::string& program, const char* command, int plan, int report,
                      int out) {
  const std::vector<const char*> argv{program.c_str(), command, nullptr};
  const std::vector<const char*> env{
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
  const pid_t pid = fork();
  if (pid < 0) return os_error("start a process");
  if (pid == 0) {
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    if (out >= 0) {
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
    }
    // Duplicate both to high numbers first: either could have the other's target number.
    const int high_plan = plan >= 0 ? fcntl(plan, F_DUPFD, 100) : -1;
    const int high_report = fcntl(report, F_DUPFD, 100);
    if (high_plan >= 0) dup2(high_plan, kPlanFd);
    dup2(high_report, kReportFd);
    close_range(kReportFd + 1, ~0U, 0);
    if (high_plan < 0) close(kPlanFd);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setsid();
    execve(program.c_str(), const_cast<char* const*>(argv.data()),
           const_cast<char* const*>(env.data()));
    _exit(125);
  }
  Started started{.pid = pid,
                  .pid_fd = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))};
  if (!started.pid_fd) {
    ::kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return os_error("open a pidfd");
  }
  return started;
}

std::string read_report(int fd) {
  std::string text;
  char chunk[4096];
  while (true) {
    const ssize_t got = read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk, static_cast<size_t>(got));
  }
}

void end(int pid, const UniqueFd& pid_fd, int signal) {
  if (!pid_fd) return;
  syscall(SYS_pidfd_send_signal, pid_fd.get(), signal, nullptr, 0);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<ContainerProcess> ContainerProcess::start(const std::string& program,
                                                 const ContainerPlan& plan,
                                                 const std::string& log) {
  UniqueFd out(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!out) return os_error("open the log " + log);
  TRY(auto plan_fd, in_memory(api::dump_json(encode(plan))));
  TRY(auto report, make_pipe());
  TRY(auto started,
      spawn(program, kContainerInitCommand, plan_fd.get(), report.write.get(), out.get()));
  report.write.reset();
  ContainerProcess process(started.pid, std::move(started.pid_fd));
  const std::string complaint = read_report(report.read.get());  // until exec closes it
  if (!complaint.empty()) return Error{Code::kInvalid, complaint};
  return process;
}

ContainerProcess::~ContainerProcess() { end(pid_, pid_fd_, kKillSignal); }

std::optional<int> ContainerProcess::try_wait() {
  int status = 0;
  const pid_t got = waitpid(pid_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  pid_fd_.reset();
  if (got < 0) return 137;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void ContainerProcess::signal(int number) {
  if (pid_fd_) syscall(SYS_pidfd_send_signal, pid_fd_.get(), number, nullptr, 0);
}

void ContainerProcess::kill() { signal(kKillSignal); }

Result<PodPause> PodPause::start(const std::string& program) {
  TRY(auto report, make_pipe());
  TRY(auto started, spawn(program, kPodPauseCommand, -1, report.write.get(), -1));
  report.write.reset();
  PodPause pause(started.pid, std::move(started.pid_fd));
  const std::string said = read_report(report.read.get());
  if (said != "+") {
    return Error{Code::kUnavailable, said.empty() ? "the pod's network did not start" : said};
  }
  return pause;
}

PodPause::~PodPause() { end(pid_, pid_fd_, SIGKILL); }

}  // namespace paddle::local
