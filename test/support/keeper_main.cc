// SPDX-License-Identifier: Apache-2.0
// The keeper's process: see keeper.h. One thread; the connection to the test is on descriptor 0;
// the test process is watched by a descriptor, so that a forked copy of the socket in another
// process does not keep the children of a dead test alive.
//
//   paddle_keeper <pid of the test> <directory to make the private directory in>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "test/support/keeper_protocol.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

struct Child {
  std::string log{};
  std::optional<Exit> ended{};
};

class Household {
 public:
  Packet begin(const std::string& base) {
    Packet answer = make_directory(base);
    if (answer.front() == "ok") directory_ = answer.back();
    return answer;
  }

  Packet answer(const Packet& request) {
    const std::string& verb = request.front();
    if (verb == "spawn" && request.size() > 4) return spawn_child(request);
    if (verb == "signal" && request.size() == 3) return signal_child(request[1], request[2]);
    if (verb == "status" && request.size() == 2) return status_of(request[1]);
    if (verb == "scrap" && request.size() == 2) return scrap(request[1]);
    if (verb == "failed") {
      keep_ = true;
      return {"ok"};
    }
    return {"error", "the keeper does not know: " + verb};
  }

  // Children first: they must not write into what is being removed.
  void end() {
    for (const auto& [pid, child] : children_) {
      if (!child.ended) ::kill(-pid, SIGKILL);
    }
    while (kill_whoever_is_left()) {
    }
    if (!keep_) scraps_.push_back(directory_);
    for (const auto& path : scraps_) {
      std::error_code ignored;
      if (!path.empty()) std::filesystem::remove_all(path, ignored);
    }
  }

  void say_last_words() const {
    for (const auto& [pid, child] : children_) {
      std::cerr << "the test died; end of " << child.log << ":\n" << tail(child.log, 5);
    }
    std::cerr << std::flush;
  }

 private:
  static Packet make_directory(const std::string& base) {
    std::string path = base + "/paddle-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return {"error", "make a directory in " + base + ": " + std::strerror(errno)};
    }
    return {"ok", path};
  }

  Packet scrap(const std::string& base) {
    Packet made = make_directory(base);
    if (made.front() == "ok") scraps_.push_back(made.back());
    return made;
  }

  Packet spawn_child(const Packet& request) {
    const auto count = static_cast<std::ptrdiff_t>(std::strtoul(request[3].c_str(), nullptr, 10));
    const auto first = request.begin() + 4;
    if (count > request.end() - first) return {"error", "fewer arguments than announced"};
    const auto child = spawn({.argv = {first, first + count},
                              .env = {first + count, request.end()},
                              .directory = request[2],
                              .log = request[1]});
    if (!child) return {"error", child.error().message};
    children_[*child] = {.log = request[1]};
    return {"ok", std::to_string(*child)};
  }

  Child* find(const std::string& pid) {
    const auto found = children_.find(static_cast<pid_t>(std::strtol(pid.c_str(), nullptr, 10)));
    if (found == children_.end()) return nullptr;
    if (!found->second.ended) found->second.ended = poll_exit(found->first);
    return &found->second;
  }

  Packet signal_child(const std::string& pid, const std::string& number) {
    const Child* child = find(pid);
    if (child == nullptr) return {"error", "no child " + pid};
    if (child->ended) return {"error", "child " + pid + " " + describe(*child->ended)};
    ::kill(-static_cast<pid_t>(std::strtol(pid.c_str(), nullptr, 10)),
           static_cast<int>(std::strtol(number.c_str(), nullptr, 10)));
    return {"ok"};
  }

  Packet status_of(const std::string& pid) {
    const Child* child = find(pid);
    if (child == nullptr) return {"error", "no child " + pid};
    if (!child->ended) return {"ok", "running"};
    return {"ok", "ended", std::to_string(child->ended->code),
            std::to_string(child->ended->signal)};
  }

  // As a subreaper we are the parent of every stray descendant. True while there may be more.
  static bool kill_whoever_is_left() {
    const std::string us = std::to_string(::getpid());
    std::istringstream pids(read_file("/proc/self/task/" + us + "/children"));
    for (pid_t pid = 0; pids >> pid;) ::kill(pid, SIGKILL);
    return ::waitpid(-1, nullptr, 0) > 0 || errno == EINTR;
  }

  std::string directory_{};
  std::vector<std::string> scraps_{};
  std::map<pid_t, Child> children_{};
  bool keep_ = false;
};

int keep(pid_t test, const std::string& base) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGPIPE, SIG_IGN);
  const UniqueFd life = watch_process(test);
  if (!life) return 1;  // it is already dead
  Household household;
  const Packet hello = household.begin(base);
  if (!send_packet(0, hello) || hello.front() != "ok") {
    household.end();
    return 1;
  }
  for (;;) {
    std::array<pollfd, 2> wait{{{.fd = 0, .events = POLLIN, .revents = 0},
                                {.fd = life.get(), .events = POLLIN, .revents = 0}}};
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    const auto request = wait[1].revents != 0 ? std::nullopt : receive_packet(0);
    if (!request || request->empty()) break;
    if (request->front() == "bye") {
      household.end();
      send_packet(0, {"ok"});
      return 0;
    }
    if (!send_packet(0, household.answer(*request))) break;
  }
  household.say_last_words();
  household.end();
  return 1;
}

}  // namespace
}  // namespace paddle::test

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ::_exit(paddle::test::keep(static_cast<pid_t>(std::strtol(argv[1], nullptr, 10)), argv[2]));
}
