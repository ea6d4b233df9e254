// SPDX-License-Identifier: Apache-2.0
#include "test/cli/cli_fixture.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include "test/support/eventually.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> command(const std::string& directory, std::vector<std::string> args) {
  args.insert(args.begin(), {PADDLE_CTL, "local"});
  args.insert(args.end(), {"--directory", directory});
  return args;
}

}  // namespace

CliTest::CliTest() : directory_(scratch_.path() + "/one") {}

CliTest::~CliTest() {
  for (const std::string& directory : started_) {
    const Ran ended = ctl_in(directory, {"down"});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    if (HasFailure()) std::fprintf(stderr, "%s\n", tail(directory + "/daemon.log", 30).c_str());
  }
}

Ran CliTest::ctl_in(const std::string& directory, std::vector<std::string> args,
                    const std::string& input) const {
  return run(
      {.argv = command(directory, std::move(args)), .env = clean_environment(scratch_.path())},
      input);
}

Ran CliTest::ctl(std::vector<std::string> args, const std::string& input) const {
  return ctl_in(directory_, std::move(args), input);
}

std::string CliTest::must(const std::vector<std::string>& args, const std::string& input) const {
  const Ran ran = ctl(args, input);
  EXPECT_EQ(ran.exit_code, 0) << testing::PrintToString(args) << "\n" << ran.out << ran.err;
  return ran.out;
}

Ran CliTest::up(const std::string& directory) {
  started_.push_back(directory);
  return up_once(directory);
}

Ran CliTest::up_once(const std::string& directory, const std::vector<std::string>& more) const {
  static std::atomic<int> number{0};
  const std::string log = scratch_.path() + "/up." + std::to_string(++number);
  std::vector<std::string> words{"up"};
  words.insert(words.end(), more.begin(), more.end());
  const auto child = scratch_.keeper().spawn({.argv = command(directory, std::move(words)),
                                              .env = clean_environment(scratch_.path()),
                                              .log = log});
  if (!child) return {.exit_code = -1, .err = child.error().message};
  std::optional<Exit> exit;
  eventually([&] {
    const auto now = scratch_.keeper().status(*child);
    if (now) exit = *now;
    return exit.has_value();
  });
  return {.exit_code = exit ? exit->code + (exit->signal ? 128 + exit->signal : 0) : -1,
          .out = read_file(log)};
}

nlohmann::json CliTest::status(const std::string& directory) const {
  const Ran ran = ctl_in(directory, {"status", "-o", "json"});
  return nlohmann::json::parse(ran.out, nullptr, false);
}

std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); })) continue;
    if (read_file(entry.path().string() + "/cmdline").find(word) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

std::vector<std::string> mounts_beneath(const std::string& directory) {
  std::vector<std::string> found;
  std::istringstream lines(read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" " + directory + "/") != std::string::npos) found.push_back(line);
  }
  return found;
}

bool has_address(const std::string& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return false;
  bool found = false;
  for (const ifaddrs* each = all; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* in = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    ::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text);
    found = found || text == address;
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace paddle::test
