// SPDX-License-Identifier: Apache-2.0
//
// Helper for the parsers of verbs: a sub-command whose options fill a value, which becomes the
// command if the sub-command is chosen. The only header here that includes CLI11.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace paddle::cli {

template <typename Verb>
struct Subcommand {
  CLI::App* app;
  std::shared_ptr<Verb> verb;
};

// `check` runs after all options are parsed; its error means an invalid command line.
template <typename Verb>
Subcommand<Verb> add_verb(CLI::App& local, Command& chosen, const std::string& name,
                          const std::string& about, const std::string& examples,
                          std::function<Result<>(Verb&)> check = {}) {
  auto verb = std::make_shared<Verb>();
  CLI::App* app = local.add_subcommand(name, about);
  app->footer("Examples:\n" + examples);
  app->add_option("--directory", verb->flags.directory,
                  "directory of the local cluster; default: $PADDLE_LOCAL_DIR, else "
                  "/var/lib/paddle-operator/local");
  app->callback([verb, &chosen, check = std::move(check), name] {
    if (check) {
      if (auto done = check(*verb); !done) {
        throw CLI::ValidationError("paddlectl local " + name, done.error().message);
      }
    }
    chosen = *verb;
  });
  return {app, std::move(verb)};
}

template <typename Verb>
void add_namespace(const Subcommand<Verb>& subcommand) {
  subcommand.app->add_option("-n,--namespace", subcommand.verb->flags.ns,
                             "namespace; default: 'default'");
}

}  // namespace paddle::cli
