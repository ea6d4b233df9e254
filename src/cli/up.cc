// SPDX-License-Identifier: Apache-2.0
#include "cli/up.h"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <unistd.h>

#include "base/log.h"
#include "cli/daemon.h"
#include "cli/demo.h"
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

// Our programs are in the directory of this one.
std::string program_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

void report_to(int fd, const StartupReport& report) {
  const std::string text = format_startup_report(report);
  if (fd >= 0 && ::write(fd, text.data(), text.size()) < 0) {
    log::warn("no process reads the startup reports any more");
  }
}

Result<> run_cluster(const Up& verb) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  CHECK_DONE(check_prerequisites(inspect_machine(directory.path), directory.path));
  CHECK_DONE(local::make_cluster_directory(directory));
  CHECK_DONE(local::unshare_mounts());  // before the first thread
  const controllers::Signals signals;
  TRY(const UniqueFd lock, local::lock_cluster_directory(directory));
  const std::string programs = program_directory();
  local::MachineOptions options{.directory = directory,
                                .port = verb.port,
                                .base_env = local::pod_environment(our_environment(), programs),
                                .sealed_views = !verb.no_sealed_views,
                                .step = [&](const std::string& text) {
                                  report_to(verb.report_fd,
                                            {.type = StartupReport::Type::kStep, .text = text});
                                }};
  if (programs.starts_with("/tmp/")) options.visible_directories = {programs};
  TRY(const auto machine, local::Machine::start(options, signals.token()));
  report_to(verb.report_fd, {.type = StartupReport::Type::kReady});
  if (verb.report_fd >= 0) ::close(verb.report_fd);
  log::info("ready", {{"directory", directory.path}, {"url", machine->url()}});
  while (system_clock().sleep(std::chrono::hours{24}, signals.token())) {
  }
  log::info("ending");
  return Done{};
}

void print_usage_hint(Terminal& terminal, const local::ClusterDirectory& directory) {
  const bool usual = directory.path == default_directory();
  terminal.line("The local cluster is ready. Use it with 'paddlectl local', or with kubectl:");
  const auto ours = our_environment();
  const auto user = ours.find("SUDO_USER");
  const bool by_sudo = user != ours.end() && user->second != "root";
  terminal.line("  " + kubectl_setup(directory, usual, by_sudo));
  terminal.line("End it with 'paddlectl local down" +
                (usual ? std::string("'.") : " --directory " + directory.path + "'."));
}

Result<> start_in_background(const Up& verb, const CommandContext& context) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  std::error_code error;
  const bool ours_to_remove = !std::filesystem::exists(directory.path, error);
  CHECK_DONE(local::make_cluster_directory(directory));
  const auto start = [&]() -> Result<> {
    TRY(Daemon daemon, Daemon::start(directory, verb.port, verb.no_sealed_views));
    return daemon.await_ready([&](const std::string& text) { context.terminal.line("- " + text); },
                              context.terminal.stop());
  };
  auto done = start();
  // Another `up` may have been faster; then the directory is in use.
  if (!done && local::find_lock_holder(directory))
    return await_ready(directory, context, kLongestStart);
  if (!done && ours_to_remove) std::filesystem::remove_all(directory.path, error);
  return done;
}

}  // namespace

Result<> run_in_foreground(const Up& verb) {
  std::signal(SIGPIPE, SIG_IGN);
  auto done = run_cluster(verb);
  if (!done) {
    report_to(verb.report_fd, {.type = StartupReport::Type::kFailed, .text = done.error().message});
  }
  return done;
}

Result<> run(const Up& verb, const CommandContext& context) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  CHECK_DONE(check_prerequisites(inspect_machine(directory.path), directory.path));
  bool runs = local::find_lock_holder(directory).has_value();
  if (runs) {
    const auto ready = await_ready(directory, context, kLongestStart);
    // A process that has been killed holds its lock for a moment: then this is the next start.
    runs = local::find_lock_holder(directory).has_value();
    if (!ready && runs) return ready.error();
  }
  if (runs) {
    context.terminal.line("A local cluster is already running in " + directory.path + ".");
  } else {
    context.terminal.line("Starting a local cluster in " + directory.path);
    CHECK_DONE(start_in_background(verb, context));
  }
  print_usage_hint(context.terminal, directory);
  return verb.demo ? run_demo(verb.flags, context) : Done{};
}

void add_up(CLI::App& local, Command& chosen) {
  const auto subcommand = add_verb<Up>(
      local, chosen, "up", "Starts a cluster on this machine; needs root and /dev/fuse.",
      R"(  sudo paddlectl local up
  sudo paddlectl local up --directory /data/paddle --port 7443
  sudo paddlectl local up --demo
  sudo paddlectl local up --foreground)");
  Up& verb = *subcommand.verb;
  auto* foreground = subcommand.app->add_flag("--foreground", verb.foreground,
                                              "run until Ctrl-C, with the log on the terminal");
  subcommand.app
      ->add_flag("--demo", verb.demo,
                 "then run the tutorial: a SampleSet, SampleJobs and a PaddleJob, with progress")
      ->excludes(foreground);
  subcommand.app
      ->add_option("--port", verb.port,
                   "port of the API server; default: that of the last start in this "
                   "directory, else any free port")
      ->check(CLI::Range(0, 65535));
  subcommand.app->add_flag("--no-sealed-views", verb.no_sealed_views,
                           "pods read sample sets through FUSE also when their cache is complete");
  subcommand.app->add_option("--report-fd", verb.report_fd)->group("");  // internal
}

}  // namespace paddle::cli
