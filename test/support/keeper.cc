// SPDX-License-Identifier: Apache-2.0
#include "test/support/keeper.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"

namespace paddle::test {

Result<std::unique_ptr<Keeper>> Keeper::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) < 0) {
    return Error{Code::kInternal, std::string("socketpair: ") + std::strerror(errno)};
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const char* chosen = std::getenv("TMPDIR");
  const std::string base = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  TRY(const pid_t pid, test::spawn({.argv = {PADDLE_TEST_KEEPER, std::to_string(::getpid()), base},
                                    .env = {},
                                    .dies_with_us = false,
                                    .input = theirs.get()}));
  std::unique_ptr<Keeper> keeper(new Keeper(pid, std::move(ours)));
  const auto hello = receive_packet(ends[0]);
  if (!hello || hello->size() != 2 || hello->front() != "ok") {
    return Error{Code::kInternal, "the keeper did not start: " +
                                      (hello && hello->size() == 2 ? hello->back() : "no answer")};
  }
  keeper->directory_ = hello->back();
  return keeper;
}

Keeper::~Keeper() {
  std::vector<std::string> left;
  bool answered = false;
  {
    Lock lock(mutex_);
    answered = send_packet(socket_.get(), {"bye"}) && receive_packet(socket_.get());
    socket_.reset();
    left = scraps_;
    if (!keep_) left.push_back(directory_);
  }
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answered) return;
  for (const auto& path : left) {  // the keeper was killed: its children died with it
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
}

Result<Packet> Keeper::ask(const Packet& request) {
  Lock lock(mutex_);
  if (!send_packet(socket_.get(), request)) {
    return Error{Code::kUnavailable, "the keeper does not hear: " + request.front()};
  }
  auto answer = receive_packet(socket_.get());
  if (!answer || answer->empty()) return Error{Code::kUnavailable, "the keeper died"};
  if (answer->front() != "ok") return Error{Code::kNotFound, answer->back()};
  if (request.front() == "scrap") scraps_.push_back(answer->back());
  if (request.front() == "failed") keep_ = true;
  return *std::move(answer);
}

Result<std::string> Keeper::scrap_directory(const std::string& base) {
  TRY(const Packet answer, ask({"scrap", base}));
  return answer.at(1);
}

Result<pid_t> Keeper::spawn(const Command& command) {
  Packet request{"spawn", command.log, command.directory, std::to_string(command.argv.size())};
  request.insert(request.end(), command.argv.begin(), command.argv.end());
  request.insert(request.end(), command.env.begin(), command.env.end());
  TRY(const Packet answer, ask(request));
  return static_cast<pid_t>(std::stol(answer.at(1)));
}

Result<> Keeper::signal(pid_t child, int number) {
  TRY([[maybe_unused]] const Packet answer,
      ask({"signal", std::to_string(child), std::to_string(number)}));
  return Done{};
}

Result<std::optional<Exit>> Keeper::status(pid_t child) {
  TRY(const Packet answer, ask({"status", std::to_string(child)}));
  if (answer.at(1) == "running") return std::optional<Exit>{};
  return std::optional<Exit>{{.code = std::stoi(answer.at(2)), .signal = std::stoi(answer.at(3))}};
}

Result<> Keeper::kill(pid_t child) {
  if (auto sent = signal(child, SIGKILL); !sent && !sent.is(Code::kNotFound)) return sent;
  for (;;) {
    TRY(const auto ended, status(child));
    if (ended) return Done{};
    system_clock().sleep(std::chrono::milliseconds{2}, {});
  }
}

void Keeper::keep_directory() { (void)ask({"failed"}); }

}  // namespace paddle::test
