// SPDX-License-Identifier: Apache-2.0
#include "test/support/process.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddle::test {
namespace {

Error failed(const std::string& doing) {
  return {Code::kInternal, doing + ": " + std::strerror(errno)};
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const auto& each : strings) result.push_back(const_cast<char*>(each.c_str()));
  result.push_back(nullptr);
  return result;
}

// Everything the child needs, prepared before fork: between fork and exec only
// async-signal-safe calls are allowed.
struct Prepared {
  std::vector<char*> argv{};
  std::vector<char*> env{};
  const char* directory = nullptr;
  pid_t parent = 0;
  bool dies_with_parent = true;
  std::array<int, 3> standard{};
  int report = -1;  // receives the errno of a failure; closed by a successful exec
};

[[noreturn]] void become(const Prepared& child) {
  const auto give_up = [&] {
    const int cause = errno;
    (void)!::write(child.report, &cause, sizeof cause);
    ::_exit(127);
  };
  ::setsid();
  if (child.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != child.parent) ::_exit(127);  // it died before the call
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  for (int fd = 0; fd < 3; ++fd) {
    const int from = child.standard[static_cast<size_t>(fd)];
    if (from != fd && ::dup2(from, fd) < 0) give_up();
  }
  if (child.directory != nullptr && ::chdir(child.directory) < 0) give_up();
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(child.argv[0], child.argv.data(), child.env.data());
  give_up();
  ::_exit(127);
}

std::string drain(int fd) {
  std::string text;
  std::array<char, 65536> piece{};
  ::lseek(fd, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(fd, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

std::string describe(const Exit& exit) {
  return exit.signal != 0 ? "killed by signal " + std::to_string(exit.signal)
                          : "exited with " + std::to_string(exit.code);
}

Result<pid_t> spawn(const Command& command) {
  if (command.argv.empty()) return Error{Code::kInvalid, "nothing to run"};
  // Descriptors of ours are above 2 from here on, so that dup2 cannot overwrite one.
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  UniqueFd log;
  if (!command.log.empty()) {
    log = UniqueFd(::open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log) return failed("open " + command.log);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return failed("pipe");
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);

  const auto choose = [&](int given, int ours) {
    return log ? log.get() : given < 0 ? ours : given;
  };
  const Prepared child{.argv = pointers(command.argv),
                       .env = pointers(command.env),
                       .directory = command.directory.empty() ? nullptr : command.directory.c_str(),
                       .parent = ::getpid(),
                       .dies_with_parent = command.dies_with_us,
                       .standard = {command.input < 0 ? null.get() : command.input,
                                    choose(command.output, 1), choose(command.errors, 2)},
                       .report = write_end.get()};
  const pid_t pid = ::fork();
  if (pid < 0) return failed("fork");
  if (pid == 0) become(child);

  write_end.reset();
  int cause = 0;
  ssize_t got = 0;
  do {
    got = ::read(read_end.get(), &cause, sizeof cause);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof cause) {
    ::waitpid(pid, nullptr, 0);
    return Error{Code::kNotFound, "run " + command.argv[0] + ": " + std::strerror(cause)};
  }
  return pid;
}

std::optional<Exit> poll_exit(pid_t child) {
  int status = 0;
  const pid_t got = ::waitpid(child, &status, WNOHANG);
  if (got == 0) return std::nullopt;
  if (got < 0) return Exit{.code = 127};
  if (WIFSIGNALED(status)) return Exit{.signal = WTERMSIG(status)};
  return Exit{.code = WEXITSTATUS(status)};
}

void kill_and_reap(pid_t child) {
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);  // before setsid() it has no group of its own yet
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool freeze(pid_t child) {
  if (::kill(child, SIGSTOP) != 0) return false;
  siginfo_t seen{};
  while (::waitid(P_PID, static_cast<id_t>(child), &seen, WSTOPPED | WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return false;
  }
  return seen.si_code == CLD_STOPPED;
}

void thaw(pid_t child) { ::kill(child, SIGCONT); }

bool alive(pid_t process) {
  const std::string stat = read_file("/proc/" + std::to_string(process) + "/stat");
  const size_t name_end = stat.rfind(") ");  // the name itself may contain anything
  if (name_end == std::string::npos) return false;
  const char state = stat[name_end + 2];
  return state != 'Z' && state != 'X';
}

UniqueFd watch_process(pid_t process) {
  // By number: this libc declares pidfd_open without C linkage.
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

Ran run(Command command, const std::string& input, std::chrono::milliseconds limit) {
  const UniqueFd in(::memfd_create("in", MFD_CLOEXEC));
  const UniqueFd out(::memfd_create("out", MFD_CLOEXEC));
  const UniqueFd err(::memfd_create("err", MFD_CLOEXEC));
  for (size_t at = 0; at < input.size();) {
    const ssize_t put = ::write(in.get(), input.data() + at, input.size() - at);
    if (put <= 0) return {.exit_code = -1, .err = failed("keep input").message};
    at += static_cast<size_t>(put);
  }
  ::lseek(in.get(), 0, SEEK_SET);
  command.log.clear();
  command.input = in.get();
  command.output = out.get();
  command.errors = err.get();

  const auto child = spawn(command);
  if (!child) return {.exit_code = -1, .err = child.error().message};
  const UniqueFd ended = watch_process(*child);
  pollfd wait{.fd = ended.get(), .events = POLLIN, .revents = 0};
  const bool in_time = ::poll(&wait, 1, static_cast<int>(limit.count())) > 0;
  if (!in_time) {
    kill_and_reap(*child);
    return {.exit_code = 128 + SIGKILL,
            .out = drain(out.get()),
            .err = drain(err.get()) + "\nkilled after " + std::to_string(limit.count()) + " ms\n"};
  }
  const Exit exit = poll_exit(*child).value_or(Exit{.code = 127});
  return {.exit_code = exit.signal != 0 ? 128 + exit.signal : exit.code,
          .out = drain(out.get()),
          .err = drain(err.get())};
}

std::vector<std::string> clean_environment(const std::string& home) {
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, "LC_ALL=C.UTF-8"};
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<> write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) return failed("write " + path);
  return Done{};
}

std::string tail(const std::string& path, size_t lines) {
  const std::string text = read_file(path);
  size_t from = text.size();
  for (size_t seen = 0; from > 0; --from) {
    if (text[from - 1] == '\n' && from != text.size() && ++seen == lines) break;
  }
  return text.substr(from);
}

}  // namespace paddle::test
