// SPDX-License-Identifier: Apache-2.0
#include "cli/kubeconfig.h"

#include "cli/verb.h"
#include "os/read_file.h"

namespace paddle::cli {
namespace {

constexpr const char* kCopy = ".paddle-local.kubeconfig";

}  // namespace

Result<> run(const Kubeconfig& verb, const Around& around) {
  const local::Home home = verb.where.home();
  auto text = os::read_file(home.kubeconfig(), size_t{64} << 10);
  if (!text) return not_running(home);
  if (verb.path) {
    around.terminal.line(home.kubeconfig());
  } else {
    around.terminal.print(*text);
  }
  return Done{};
}

std::string kubectl_setup(const local::Home& home, bool usual, bool by_sudo) {
  if (!by_sudo) return "export KUBECONFIG=" + home.kubeconfig();
  const std::string where = usual ? "" : " --directory " + home.directory;
  return "(umask 077; sudo paddlectl local kubeconfig" + where + " > ~/" + kCopy +
         ") && export KUBECONFIG=~/" + kCopy;
}

void add_kubeconfig(CLI::App& local, Command& chosen) {
  const auto adding = add_verb<Kubeconfig>(
      local, chosen, "kubeconfig", "Prints the kubeconfig, for other clients.",
      R"(  (umask 077; sudo paddlectl local kubeconfig > ~/.paddle-local.kubeconfig)
  export KUBECONFIG=~/.paddle-local.kubeconfig
  export KUBECONFIG=$(paddlectl local kubeconfig --path)      # as root)");
  adding.app->add_flag("--path", adding.verb->path, "only where it is");
}

}  // namespace paddle::cli
