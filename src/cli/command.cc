// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <algorithm>

#include "base/match.h"
#include "base/version.h"
#include "cli/verb.h"

namespace paddle::cli {

void add_up(CLI::App& local, Command& chosen);
void add_down(CLI::App& local, Command& chosen);
void add_apply(CLI::App& local, Command& chosen);
void add_get(CLI::App& local, Command& chosen);
void add_logs(CLI::App& local, Command& chosen);
void add_delete(CLI::App& local, Command& chosen);
void add_wait(CLI::App& local, Command& chosen);
void add_kubeconfig(CLI::App& local, Command& chosen);
void add_status(CLI::App& local, Command& chosen);

namespace {

std::string one_sentence(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

Result<Command> parsed(CLI::App& app, Command& chosen, std::vector<std::string> args) {
  try {
    std::ranges::reverse(args);  // CLI11 expects them in reverse
    app.parse(std::move(args));
    return chosen;
  } catch (const CLI::CallForHelp&) {
    return Command(ShowText{app.help()});
  } catch (const CLI::CallForVersion&) {
    return Command(ShowText{std::string("paddlectl ") + kVersion + "\n"});
  } catch (const CLI::Error& error) {
    return Error{Code::kInvalid, one_sentence(error.what())};
  } catch (const std::exception& error) {
    return Error{Code::kInvalid, one_sentence(error.what())};
  }
}

}  // namespace

Result<Command> parse_command(const std::vector<std::string>& args) {
  Command chosen;
  CLI::App app("Runs and shows PaddleJobs and SampleSets.", "paddlectl");
  app.set_version_flag("--version", std::string("paddlectl ") + kVersion);
  app.require_subcommand(1);
  app.footer("Examples:\n  sudo paddlectl local up\n  paddlectl local --help");
  CLI::App* local =
      app.add_subcommand("local",
                         "A cluster on this machine: no Kubernetes, no images, no daemon "
                         "except our own.");
  local->require_subcommand(1);
  local->footer(R"(Examples:
  sudo paddlectl local up
  sudo paddlectl local apply -f train.yaml
  sudo paddlectl local wait paddlejob/train --for=phase=Completed
  sudo paddlectl local logs paddlejob/train
  sudo paddlectl local down)");
  for (const auto add : {add_up, add_apply, add_get, add_logs, add_wait, add_delete, add_status,
                         add_kubeconfig, add_down}) {
    add(*local, chosen);
  }
  return parsed(app, chosen, args);
}

int run_command(const Command& command, const CommandContext& context) {
  const auto done = std::visit(Match{[&](const ShowText& it) -> Result<> {
                                       context.terminal.print(it.text);
                                       return Done{};
                                     },
                                     [&](const auto& verb) { return run(verb, context); }},
                               command);
  context.terminal.clear_progress();
  if (done) return 0;
  context.terminal.message("paddlectl: " + done.error().message);
  return 1;
}

}  // namespace paddle::cli
