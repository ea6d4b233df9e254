// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "controllers/loop/signals.h"
#include "local/node/container_init.h"
#include "programs/flags/flag_parser.h"

namespace {

using namespace paddle;

cli::Terminal::Write writer_to(int fd) {
  return [fd](std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(fd, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) ::_exit(1);  // the reader is gone
      text.remove_prefix(static_cast<size_t>(count));
    }
  };
}

size_t columns_of(int fd) {
  winsize size{};
  if (::isatty(fd) != 1) return 0;
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int run(const cli::Command& command) {
  const controllers::Signals signals;
  cli::Terminal terminal(writer_to(STDOUT_FILENO), writer_to(STDERR_FILENO),
                         columns_of(STDERR_FILENO), signals.token());
  return cli::run_command(command, {.terminal = terminal, .clock = system_clock()});
}

}  // namespace

int main(int argc, char** argv) {
  // The node starts this program for these; before anything else runs.
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == local::kContainerInitCommand) return local::container_init();
  if (first == local::kPodPauseCommand) return local::pod_pause();

  const auto command = cli::parse_command({argv + 1, argv + argc});
  if (!command) {
    std::cerr << programs::usage_error("paddlectl", command.error());
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  if (const auto* up = std::get_if<cli::Up>(&*command); up && up->foreground) {
    const auto done = cli::run_in_foreground(*up);
    if (!done) std::cerr << "paddlectl: " << done.error().message << "\n";
    return done ? 0 : 1;
  }
  return run(*command);
}
