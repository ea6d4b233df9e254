// SPDX-License-Identifier: Apache-2.0
#include "cli/kubeconfig.h"

#include "cli/verb.h"
#include "kube/read_file.h"

namespace paddle::cli {

Result<> run(const Kubeconfig& verb, const Around& around) {
  const local::Home home = verb.where.home();
  auto text = kube::read_file(home.kubeconfig(), size_t{64} << 10);
  if (!text) return not_running(home);
  if (verb.path) {
    around.terminal.line(home.kubeconfig());
  } else {
    around.terminal.print(*text);
  }
  return Done{};
}

void add_kubeconfig(CLI::App& local, Command& chosen) {
  const auto adding =
      add_verb<Kubeconfig>(local, chosen, "kubeconfig", "Prints the kubeconfig, for other clients.",
                           R"(  export KUBECONFIG=$(paddlectl local kubeconfig --path)
  paddlectl local kubeconfig > my-config)");
  adding.app->add_flag("--path", adding.verb->path, "only where it is");
}

}  // namespace paddle::cli
