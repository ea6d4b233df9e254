// SPDX-License-Identifier: Apache-2.0
#include "cli/kubeconfig.h"

#include "cli/verb.h"
#include "os/read_file.h"

namespace paddle::cli {
namespace {

constexpr const char* kCopy = ".paddle-local.kubeconfig";

}  // namespace

Result<> run(const Kubeconfig& verb, const CommandContext& context) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  auto text = os::read_file(directory.kubeconfig(), size_t{64} << 10);
  if (!text) return not_running(directory);
  if (verb.path) {
    context.terminal.line(directory.kubeconfig());
  } else {
    context.terminal.print(*text);
  }
  return Done{};
}

std::string kubectl_setup(const local::ClusterDirectory& directory, bool usual, bool by_sudo) {
  if (!by_sudo) return "export KUBECONFIG=" + directory.kubeconfig();
  const std::string where = usual ? "" : " --directory " + directory.path;
  return "(umask 077; sudo paddlectl local kubeconfig" + where + " > ~/" + kCopy +
         ") && export KUBECONFIG=~/" + kCopy;
}

void add_kubeconfig(CLI::App& local, Command& chosen) {
  const auto subcommand = add_verb<Kubeconfig>(
      local, chosen, "kubeconfig", "Prints the kubeconfig, for other clients.",
      R"(  (umask 077; sudo paddlectl local kubeconfig > ~/.paddle-local.kubeconfig)
  export KUBECONFIG=~/.paddle-local.kubeconfig
  export KUBECONFIG=$(paddlectl local kubeconfig --path)      # as root)");
  subcommand.app->add_flag("--path", subcommand.verb->path, "print only its path");
}

}  // namespace paddle::cli
