// SPDX-License-Identifier: Apache-2.0
#include "cli/status.h"

#include <nlohmann/json.hpp>

#include "cli/progress.h"
#include "cli/runtime_reports.h"
#include "cli/status_report.h"
#include "cli/verb.h"
#include "kube/client/load_config.h"

namespace paddle::cli {
namespace {

using api::Json;

Result<std::vector<Json>> list_all(Session& session, const kube::Resource& resource) {
  std::vector<Json> found;
  auto listed = session.client().list(
      resource, {},
      [&](std::string_view text) -> Result<> {
        TRY(Json object, api::parse_json(text));
        found.push_back(std::move(object));
        return Done{};
      },
      session.call());
  if (!listed) return session.explained(std::move(listed).error());
  return found;
}

std::string server_in(const local::ClusterDirectory& directory) {
  const auto config = kube::load_config({.path = directory.kubeconfig()}, {});
  return config ? config->server : std::string{};
}

Result<ClusterReport> collect_report(Session& session, int pid) {
  const local::ClusterDirectory& directory = session.directory();
  ClusterReport report{.running = true,
                       .directory = directory.path,
                       .pid = pid,
                       .url = server_in(directory),
                       .kubeconfig = directory.kubeconfig()};
  TRY(report.nodes, list_all(session, kube::resources::kNodes));
  TRY(report.pods, list_all(session, kube::resources::kPods));
  TRY(report.paddle_jobs, list_all(session, kube::resources::kPaddleJobs));
  TRY(const auto sets, list_all(session, kube::resources::kSampleSets));
  for (const Json& set : sets) {
    TRY(auto runtimes, fetch_runtime_reports(session, set));
    report.sample_sets.push_back({.object = set, .runtimes = std::move(runtimes)});
  }
  return report;
}

}  // namespace

Result<> run(const Status& verb, const CommandContext& context) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  const auto holder = local::find_lock_holder(directory);
  if (!holder) {
    if (verb.json) context.terminal.line(to_json({.directory = directory.path}).dump(2));
    return not_running(directory);
  }
  TRY(Session session, Session::open(directory, context));
  TRY(const ClusterReport report, collect_report(session, holder->pid));
  if (verb.json) {
    context.terminal.line(to_json(report).dump(2));
  } else {
    context.terminal.print(to_text(report));
  }
  return Done{};
}

void add_status(CLI::App& local, Command& chosen) {
  auto output = std::make_shared<std::string>("text");
  const auto subcommand = add_verb<Status>(
      local, chosen, "status",
      "Shows what is running, what is cached and where bytes were read from.",
      std::string("  paddlectl local status\n  paddlectl local status -o json\n\n") +
          kStatusJsonHelp,
      [output](Status& verb) -> Result<> {
        verb.json = *output == "json";
        return Done{};
      });
  subcommand.app->add_option("-o,--output", *output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
}

}  // namespace paddle::cli
