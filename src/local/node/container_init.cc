// SPDX-License-Identifier: Apache-2.0
#include "local/node/container_init.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <fcntl.h>
#include <net/if.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "local/node/container_plan.h"
#include "local/node/container_privileges.h"
#include "local/node/os_error.h"
#include "local/node/private_root.h"
#include "os/read_file.h"

namespace paddle::local {
namespace {

constexpr int kSetupFailed = 125;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

int report(const Error& error, int exit_code) {
  [[maybe_unused]] const auto written =
      write(kReportFd, error.message.data(), error.message.size());
  return exit_code;
}

Result<> join_network(const std::string& path) {
  if (path.empty()) return Done{};
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return os_error("open the pod's network");
  if (setns(fd.get(), CLONE_NEWNET) != 0) return os_error("join the pod's network");
  return Done{};
}

// Process 1 of the container; returns only if exec of the user's command failed.
int become(const ContainerPlan& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (sethostname(plan.hostname.c_str(), plan.hostname.size()) != 0) {
    return report(os_error("set the host name"), kSetupFailed);
  }
  if (auto entered = enter_private_root(plan); !entered) {
    return report(entered.error(), kSetupFailed);
  }
  if (!plan.working_dir.empty() && chdir(plan.working_dir.c_str()) != 0) {
    return report(os_error("enter the working directory " + plan.working_dir), kSetupFailed);
  }

  std::vector<std::string> pairs;
  for (const auto& [name, value] : plan.env) pairs.push_back(name + "=" + value);
  std::vector<char*> env, argv;
  for (auto& pair : pairs) env.push_back(pair.data());
  env.push_back(nullptr);
  auto words = plan.argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const auto path = plan.env.find("PATH"); path != plan.env.end()) {
    setenv("PATH", path->second.c_str(), 1);  // execvpe searches our PATH
  }
  if (auto dropped = drop_privileges(plan.security); !dropped) {
    return report(dropped.error(), kSetupFailed);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of the user has cleared it
  execvpe(argv[0], argv.data(), env.data());
  const int code = errno == ENOENT ? kNotFound : kNotExecutable;
  return report(os_error("run " + plan.argv[0]), code);
}

pid_t inner = 0;
void pass_on(int signal) {
  if (inner > 0) kill(inner, signal == kKillSignal ? SIGKILL : signal);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return kSetupFailed;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int container_init() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  auto text = os::read_to_end(kPlanFd, "the container plan", std::numeric_limits<size_t>::max());
  close(kPlanFd);
  if (!text) return report(text.error(), kSetupFailed);
  auto json = api::parse_json(*text);
  if (!json) return report(json.error(), kSetupFailed);
  auto plan = decode_container_plan(*json);
  if (!plan) return report(plan.error(), kSetupFailed);
  if (plan->argv.empty()) {
    return report({Code::kInvalid, "no command: set the container's `command`"}, kSetupFailed);
  }

  if (auto joined = join_network(plan->network_namespace); !joined) {
    return report(joined.error(), kSetupFailed);
  }
  if (unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS | CLONE_NEWIPC) != 0) {
    return report(os_error("create the container's namespaces"), kSetupFailed);
  }
  inner = fork();
  if (inner < 0) return report(os_error("start the container"), kSetupFailed);
  if (inner == 0) return become(*plan);

  close(kReportFd);
  struct sigaction action {};
  action.sa_handler = pass_on;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, kKillSignal}) {
    sigaction(signal, &action, nullptr);
  }
  return wait_for(inner);
}

int pod_pause() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (unshare(CLONE_NEWNET) != 0) return report(os_error("create the pod's network"), kSetupFailed);
  UniqueFd socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket_fd || ioctl(socket_fd.get(), SIOCSIFFLAGS, &request) != 0) {
    return report(os_error("bring the pod's loopback up"), kSetupFailed);
  }
  [[maybe_unused]] const auto told = write(kReportFd, "+", 1);
  close(kReportFd);
  while (true) pause();
}

}  // namespace paddle::local
