// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/json/yaml_writer.h"
#include "cli/table.h"
#include "cli/verb.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::string last_seen(const Json& event) {
  for (const char* field : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (auto time = api::look_text(event, field); !time.empty()) return time;
  }
  return api::look_text(event, "/metadata/creationTimestamp");
}

Result<std::vector<Json>> events_of(Session& session, const Json& object) {
  const std::string uid = api::look_text(object, "/metadata/uid");
  std::vector<Json> found;
  auto listed = session.client().list(
      kube::resources::kEvents, {.ns = api::look_text(object, "/metadata/namespace")},
      [&](std::string_view text) -> Result<> {
        TRY(Json event, api::parse_json(text));
        if (api::look_text(event, "/involvedObject/uid") == uid) found.push_back(std::move(event));
        return Done{};
      },
      session.call());
  if (!listed) return session.explained(std::move(listed).error());
  return found;
}

}  // namespace

std::string description(Json object, std::vector<Json> events) {
  if (object.contains("metadata") && object["metadata"].is_object()) {
    Json& metadata = object["metadata"];
    metadata.erase("managedFields");
    if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
      metadata["annotations"].erase(kLastApplied);
    }
  }
  // Secrets are for `get -o yaml`.
  if (api::look_text(object, "kind") == "Secret" && object.contains("data")) {
    for (auto& [name, value] : object["data"].items()) value = "(hidden)";
  }
  std::string text = api::to_block_yaml(object);
  if (events.empty()) return text + "\nno events\n";
  std::ranges::stable_sort(events, {}, last_seen);
  std::vector<std::vector<std::string>> lines{{"LAST SEEN", "TYPE", "REASON", "COUNT", "MESSAGE"}};
  for (const Json& event : events) {
    std::string message = api::look_text(event, "message");
    std::ranges::replace(message, '\n', ' ');
    lines.push_back({last_seen(event), api::look_text(event, "type"),
                     api::look_text(event, "reason"),
                     std::to_string(std::max<std::int64_t>(api::look_integer(event, "count"), 1)),
                     std::move(message)});
  }
  return text + "\n" + align(lines);
}

Result<> run(const Describe& verb, const CommandContext& context) {
  TRY(const auto names, parse_object_names(verb.words));
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  bool first = true;
  for (const ObjectName& each : names) {
    TRY(const KnownKind kind, session.kind(each.kind));
    const std::string ns = kind.resource.namespaced ? verb.flags.namespace_or_default() : "";
    auto object = session.client().get(kind.resource, {ns, each.name}, session.call());
    if (!object) return session.explained(std::move(object).error());
    TRY(auto events, events_of(session, *object));
    if (!first) context.terminal.print("---\n");
    first = false;
    context.terminal.print(description(*std::move(object), std::move(events)));
  }
  return Done{};
}

void add_describe(CLI::App& local, Command& chosen) {
  const auto subcommand =
      add_verb<Describe>(local, chosen, "describe", "Shows objects with their events.",
                         R"(  paddlectl local describe paddlejob train
  paddlectl local describe pod/train-worker-0)",
                         [](Describe& verb) -> Result<> {
                           const auto names = parse_object_names(verb.words);
                           return names ? Result<>(Done{}) : names.error();
                         });
  subcommand.app->add_option("what", subcommand.verb->words, "KIND NAME... or KIND/NAME...")
      ->required();
  add_namespace(subcommand);
}

}  // namespace paddle::cli
