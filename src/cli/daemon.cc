// SPDX-License-Identifier: Apache-2.0
#include "cli/daemon.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddle::cli {
namespace {

constexpr int kReportFd = 3;
constexpr off_t kLongLog = off_t{16} << 20;
constexpr std::chrono::milliseconds kGrace{20'000};

Error failed(const std::string& doing) {
  return {Code::kUnavailable, doing + ": " + std::strerror(errno)};
}

std::vector<std::string> environment() {
  std::vector<std::string> env;
  for (const char* name : {"PATH", "HOME", "LANG", "TZ"}) {
    if (const char* value = std::getenv(name)) env.push_back(std::string(name) + "=" + value);
  }
  return env;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> made;
  for (std::string& text : texts) made.push_back(text.data());
  made.push_back(nullptr);
  return made;
}

// Runs after fork, so it makes only async-signal-safe calls. Does not return.
[[noreturn]] void become_daemon(char* const* argv, char* const* env, int log, int report) {
  ::setsid();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  const bool placed = ::dup2(nothing, 0) >= 0 && ::dup2(log, 1) >= 0 && ::dup2(log, 2) >= 0 &&
                      ::dup2(report, kReportFd) >= 0 && ::chdir("/") == 0;
  if (placed) {
    ::close_range(kReportFd + 1, ~0U, 0);
    ::execve("/proc/self/exe", argv, env);
  }
  ::_exit(127);
}

// The last line of the log that is not empty.
std::string last_log_line(const std::string& log) {
  const UniqueFd file(::open(log.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return {};
  std::array<char, 1024> end{};
  const off_t from = std::max<off_t>(info.st_size - static_cast<off_t>(end.size()), 0);
  const ssize_t count = ::pread(file.get(), end.data(), end.size(), from);
  std::string text(end.data(), count > 0 ? static_cast<size_t>(count) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

}  // namespace

std::optional<StartupReport> parse_startup_report(std::string_view line) {
  const auto after = [&](std::string_view word) { return std::string(line.substr(word.size())); };
  if (line == "ready") return StartupReport{.type = StartupReport::Type::kReady};
  if (line.starts_with("step ")) return StartupReport{StartupReport::Type::kStep, after("step ")};
  if (line.starts_with("failed "))
    return StartupReport{StartupReport::Type::kFailed, after("failed ")};
  return std::nullopt;
}

std::string format_startup_report(const StartupReport& report) {
  std::string text = report.text;
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  switch (report.type) {
    case StartupReport::Type::kStep:
      return "step " + text + "\n";
    case StartupReport::Type::kReady:
      return "ready\n";
    case StartupReport::Type::kFailed:
      return "failed " + text + "\n";
  }
  return {};
}

Result<Daemon> Daemon::start(const local::ClusterDirectory& directory, int port,
                             bool no_sealed_views) {
  UniqueFd log(::open(directory.log().c_str(),
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log) return failed("open " + directory.log());
  struct stat info {};
  if (::fstat(log.get(), &info) == 0 && info.st_size > kLongLog) {
    if (::ftruncate(log.get(), 0) != 0) return failed("truncate " + directory.log());
  }
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("create a pipe");
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::vector<std::string> words{"paddlectl",   "local",
                                 "up",          "--foreground",
                                 "--directory", directory.path,
                                 "--port",      std::to_string(port),
                                 "--report-fd", std::to_string(kReportFd)};
  if (no_sealed_views) words.emplace_back("--no-sealed-views");
  std::vector<std::string> names = environment();
  const auto argv = pointers(words), env = pointers(names);
  const pid_t pid = ::fork();
  if (pid < 0) return failed("start a process");
  if (pid == 0) become_daemon(argv.data(), env.data(), log.get(), write_end.get());
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return Daemon(directory, pid, std::move(process), std::move(read_end));
}

Result<> Daemon::await_ready(const std::function<void(const std::string&)>& step,
                             std::stop_token stop) {
  constexpr int kLookEveryMs = 100;
  std::string rest;
  for (;;) {
    if (stop.stop_requested()) {
      CHECK_DONE(end_process(process_.get(), kGrace));
      ::waitpid(pid_, nullptr, 0);
      return Error{Code::kCancelled, "interrupted: the local cluster was not started"};
    }
    pollfd watched{report_.get(), POLLIN, 0};
    if (::poll(&watched, 1, kLookEveryMs) <= 0) continue;
    std::array<char, 4096> piece{};
    const ssize_t count = ::read(report_.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ended_early();
    rest.append(piece.data(), static_cast<size_t>(count));
    for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      const auto line = parse_startup_report(std::string_view(rest).substr(0, end));
      rest.erase(0, end + 1);
      if (!line) continue;
      if (line->type == StartupReport::Type::kReady) return Done{};
      if (line->type == StartupReport::Type::kStep) step(line->text);
      if (line->type == StartupReport::Type::kFailed) {
        wait_for_end(process_.get(), kGrace);
        ended_early();
        return Error{Code::kUnavailable, line->text};
      }
    }
  }
}

Error Daemon::ended_early() {
  if (!wait_for_end(process_.get(), kGrace)) (void)end_process(process_.get(), kGrace);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  const std::string how = WIFSIGNALED(status)
                              ? "was ended by signal " + std::to_string(WTERMSIG(status))
                              : "ended with code " + std::to_string(WEXITSTATUS(status));
  const std::string words = last_log_line(directory_.log());
  return {Code::kUnavailable,
          "the local cluster " + how + " during its start" + (words.empty() ? "" : ": " + words)};
}

bool wait_for_end(int process_fd, std::chrono::milliseconds limit) {
  pollfd watched{process_fd, POLLIN, 0};
  return ::poll(&watched, 1, static_cast<int>(limit.count())) > 0;
}

Result<> end_process(int process_fd, std::chrono::milliseconds limit) {
  const auto send = [&](int number) {
    return ::syscall(SYS_pidfd_send_signal, process_fd, number, nullptr, 0) == 0 || errno == ESRCH;
  };
  if (!send(SIGTERM)) return failed("end the local cluster");
  if (wait_for_end(process_fd, limit)) return Done{};
  if (!send(SIGKILL)) return failed("end the local cluster");
  if (wait_for_end(process_fd, limit)) return Done{};
  return Error{Code::kDeadline, "cannot end the process of the local cluster"};
}

}  // namespace paddle::cli
