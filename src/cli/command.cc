// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <algorithm>
#include <optional>

#include "base/match.h"
#include "base/version.h"
#include "cli/verb.h"

namespace paddle::cli {

void add_up(CLI::App& local, Command& chosen);
void add_down(CLI::App& local, Command& chosen);
void add_apply(CLI::App& local, Command& chosen);
void add_get(CLI::App& local, Command& chosen);
void add_describe(CLI::App& local, Command& chosen);
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

// What to do instead of a verb of kubectl that is not here.
std::string instead_of(const std::string& verb) {
  if (verb == "events") {
    return "; 'paddlectl local describe KIND NAME' shows the events of an object, and "
           "'paddlectl local get events' all";
  }
  if (verb == "exec" || verb == "attach" || verb == "cp" || verb == "port-forward") {
    return "; containers are processes of this machine with its files, and their output is in "
           "'paddlectl local logs POD'";
  }
  if (verb == "edit" || verb == "patch" || verb == "scale" || verb == "create") {
    return "; change the file and use 'paddlectl local apply -f FILE'";
  }
  return "";
}

// CLI11 reports a word that it does not know as a missing sub-command.
std::optional<Error> unknown_verb(const CLI::App& app, const std::vector<std::string>& args,
                                  std::size_t at) {
  if (at >= args.size() || args[at].starts_with('-')) return std::nullopt;
  const auto same = [&](const CLI::App* each) { return each->check_name(args[at]); };
  if (!app.get_subcommands(same).empty()) return std::nullopt;
  const std::string name = at == 0 ? "paddlectl" : "paddlectl local";
  return Error{Code::kInvalid, "unknown verb '" + args[at] + "'" +
                                   (at == 0 ? std::string() : instead_of(args[at])) + ": see '" +
                                   name + " --help'"};
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
  for (const auto add : {add_up, add_apply, add_get, add_describe, add_logs, add_wait, add_delete,
                         add_status, add_kubeconfig, add_down}) {
    add(*local, chosen);
  }
  if (auto unknown = unknown_verb(app, args, 0)) return *std::move(unknown);
  if (!args.empty() && args[0] == "local") {
    if (auto unknown = unknown_verb(*local, args, 1)) return *std::move(unknown);
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
