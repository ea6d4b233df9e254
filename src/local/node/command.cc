// SPDX-License-Identifier: Apache-2.0
#include "local/node/command.h"

#include <cerrno>
#include <cstring>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddle::local {

Result<> run_command(std::vector<std::string> words) {
  std::vector<char*> argv;
  std::string line;
  for (auto& word : words) {
    argv.push_back(word.data());
    line += (line.empty() ? "" : " ") + word;
  }
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  char* env[] = {path, nullptr};

  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &quiet, nullptr, argv.data(), env);
  posix_spawn_file_actions_destroy(&quiet);
  if (error != 0) {
    return Error{Code::kUnavailable,
                 "cannot run `" + words[0] +
                     "` (install iproute2, util-linux and nftables): " + std::strerror(error)};
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Done{};
  return Error{Code::kUnavailable, "`" + line + "` failed"};
}

}  // namespace paddle::local
