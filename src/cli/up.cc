// SPDX-License-Identifier: Apache-2.0
#include "cli/up.h"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <unistd.h>

#include "base/log.h"
#include "cli/daemon.h"
#include "cli/kubeconfig.h"
#include "cli/readiness.h"
#include "cli/verb.h"
#include "controllers/loop/signals.h"
#include "local/machine/machine.h"

extern char** environ;

namespace paddle::cli {
namespace {

constexpr std::chrono::minutes kLongestStart{2};

std::map<std::string, std::string> our_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equal = text.find('=');
    if (equal != std::string::npos) found[text.substr(0, equal)] = text.substr(equal + 1);
  }
  return found;
}

// Where our programs are: the directory of this one.
std::string program_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

void report_to(int fd, const Report& report) {
  const std::string text = write_report(report);
  if (fd >= 0 && ::write(fd, text.data(), text.size()) < 0) {
    log::warn("nobody waits for the start any more");
  }
}

Result<> keep_running(const Up& verb) {
  const local::Home home = verb.where.home();
  CHECK_DONE(check(look_at_machine(home.directory), home.directory));
  CHECK_DONE(local::make_home(home));
  CHECK_DONE(local::hide_mounts());  // before the first thread
  const controllers::Signals signals;
  TRY(const UniqueFd lock, local::keep(home));
  const std::string programs = program_directory();
  local::MachineOptions options{.home = home,
                                .port = verb.port,
                                .base_env = local::pod_environment(our_environment(), programs),
                                .step = [&](const std::string& text) {
                                  report_to(verb.report_fd,
                                            {.is = Report::Is::kStep, .text = text});
                                }};
  if (programs.starts_with("/tmp/")) options.shown = {programs};
  TRY(const auto machine, local::Machine::start(options, signals.token()));
  report_to(verb.report_fd, {.is = Report::Is::kReady});
  if (verb.report_fd >= 0) ::close(verb.report_fd);
  log::info("ready", {{"directory", home.directory}, {"url", machine->url()}});
  while (system_clock().sleep(std::chrono::hours{24}, signals.token())) {
  }
  log::info("ending");
  return Done{};
}

void say_how_to_use(Terminal& terminal, const local::Home& home) {
  const bool usual = home.directory == default_directory();
  terminal.line("The local cluster is ready. Use it with 'paddlectl local', or with kubectl:");
  const auto ours = our_environment();
  const auto user = ours.find("SUDO_USER");
  const bool by_sudo = user != ours.end() && user->second != "root";
  terminal.line("  " + kubectl_setup(home, usual, by_sudo));
  terminal.line("End it with 'paddlectl local down" +
                (usual ? std::string("'.") : " --directory " + home.directory + "'."));
}

Result<> start_in_background(const Up& verb, const Around& around) {
  const local::Home home = verb.where.home();
  std::error_code error;
  const bool ours_to_remove = !std::filesystem::exists(home.directory, error);
  CHECK_DONE(local::make_home(home));
  const auto start = [&]() -> Result<> {
    TRY(Daemon daemon, Daemon::start(home, verb.port));
    return daemon.await_ready([&](const std::string& text) { around.terminal.line("- " + text); },
                              around.terminal.stop());
  };
  auto done = start();
  // Another `up` may have been quicker; then there is a keeper, and its directory is in use.
  if (!done && local::keeper_of(home)) return await_ready(home, around, kLongestStart);
  if (!done && ours_to_remove) std::filesystem::remove_all(home.directory, error);
  return done;
}

}  // namespace

Result<> run_in_foreground(const Up& verb) {
  std::signal(SIGPIPE, SIG_IGN);
  auto done = keep_running(verb);
  if (!done) {
    report_to(verb.report_fd, {.is = Report::Is::kFailed, .text = done.error().message});
  }
  return done;
}

Result<> run(const Up& verb, const Around& around) {
  const local::Home home = verb.where.home();
  CHECK_DONE(check(look_at_machine(home.directory), home.directory));
  if (local::keeper_of(home)) {
    CHECK_DONE(await_ready(home, around, kLongestStart));
    around.terminal.line("A local cluster runs in " + home.directory + " already.");
  } else {
    around.terminal.line("Starting a local cluster in " + home.directory);
    CHECK_DONE(start_in_background(verb, around));
  }
  say_how_to_use(around.terminal, home);
  return Done{};
}

void add_up(CLI::App& local, Command& chosen) {
  const auto adding = add_verb<Up>(local, chosen, "up",
                                   "Starts a cluster on this machine; needs root and /dev/fuse.",
                                   R"(  sudo paddlectl local up
  sudo paddlectl local up --directory /data/paddle --port 7443
  sudo paddlectl local up --foreground)");
  Up& verb = *adding.verb;
  adding.app->add_flag("--foreground", verb.foreground, "until Ctrl-C, with its log on the screen");
  adding.app->add_option("--port", verb.port, "of the API server; default: any that is free")
      ->check(CLI::Range(0, 65535));
  adding.app->add_option("--report-fd", verb.report_fd)->group("");  // between us and ourselves
}

}  // namespace paddle::cli
