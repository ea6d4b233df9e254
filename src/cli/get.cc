// SPDX-License-Identifier: Apache-2.0
#include "cli/get.h"

#include <sstream>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/json/yaml_writer.h"
#include "cli/table.h"
#include "cli/verb.h"
#include "net/values/url.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr const char* kAsTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
constexpr const char* kAsIs = "application/json";

Result<Json> fetch(Session& session, const std::string& path, const char* accept) {
  std::string text;
  auto done = session.client().stream_raw(
      path, accept,
      [&](std::string_view piece) -> Result<> {
        text += piece;
        return Done{};
      },
      session.call());
  if (!done) return session.explained(std::move(done).error());
  return api::parse_json(text);
}

class Getter {
 public:
  Getter(const Get& verb, Session& session, KnownKind kind, std::vector<std::string> names)
      : verb_(verb), session_(session), kind_(std::move(kind)), names_(std::move(names)) {}

  Result<> run() {
    if (names_.empty()) return show_list();
    for (const std::string& name : names_) CHECK_DONE(show_one(name));
    return Done{};
  }

 private:
  bool as_table() const { return verb_.output == "table" || verb_.output == "wide"; }
  const char* accept() const { return as_table() ? kAsTable : kAsIs; }
  std::string ns() const {
    const bool one = kind_.resource.namespaced && !verb_.all_namespaces;
    return one ? verb_.flags.namespace_or_default() : "";
  }
  TableStyle style() const {
    return {.wide = verb_.output == "wide",
            .with_namespace = verb_.all_namespaces && kind_.resource.namespaced,
            .heading = heading_};
  }

  std::string list_path(const std::string& name, const std::string& since) const {
    std::string path = kube::path_of(kind_.resource, {ns(), ""});
    net::add_query(path, "labelSelector", verb_.selector);
    if (!name.empty()) net::add_query(path, "fieldSelector", "metadata.name=" + name);
    if (!since.empty()) {
      net::add_query(path, "watch", "true");
      net::add_query(path, "resourceVersion", since);
    }
    return path;
  }

  Result<> show_list() {
    TRY(const Json list, fetch(session_, list_path("", ""), accept()));
    const bool none = api::look_list(list, as_table() ? "rows" : "items").empty();
    if (none && as_table()) {
      session_.terminal().message("no " + kind_.resource.plural + " found" +
                                  (ns().empty() ? "" : " in namespace " + ns()));
    }
    show(list);
    return verb_.watch ? follow("", api::look_text(list, "/metadata/resourceVersion")) : Done{};
  }

  Result<> show_one(const std::string& name) {
    TRY(const Json object, fetch(session_, kube::path_of(kind_.resource, {ns(), name}), accept()));
    show(object);
    return verb_.watch ? follow(name, api::look_text(object, "/metadata/resourceVersion")) : Done{};
  }

  void show(const Json& given) {
    if (as_table()) {
      const std::string text = print_table(given, style());
      if (!text.empty()) heading_ = false;
      return session_.terminal().print(text);
    }
    if (verb_.output == "json") return session_.terminal().line(given.dump(2));
    if (verb_.output == "yaml") return session_.terminal().print(api::to_block_yaml(given));
    const bool list = given.contains("items");
    for (const Json& each : list ? api::look_list(given, "items") : Json::array({given})) {
      session_.terminal().line(kind_.qualified_name() + "/" +
                               api::look_text(each, "/metadata/name"));
    }
  }

  // Runs until the user or the server ends the watch; each event is one line of JSON.
  Result<> follow(const std::string& name, const std::string& since) {
    std::string rest;
    auto done = session_.client().stream_raw(
        list_path(name, since), accept(),
        [&](std::string_view piece) -> Result<> {
          rest += piece;
          for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
            TRY(const Json event, api::parse_json(rest.substr(0, end)));
            rest.erase(0, end + 1);
            const Json& object = api::look(event, "object");
            if (!object.is_null() && api::look_text(event, "type") != "BOOKMARK") show(object);
          }
          return Done{};
        },
        session_.call());
    if (done || done.is(Code::kCancelled)) return Done{};
    return session_.explained(std::move(done).error());
  }

  const Get& verb_;
  Session& session_;
  const KnownKind kind_;
  const std::vector<std::string> names_;
  bool heading_ = true;
};

}  // namespace

Result<> run(const Get& verb, const CommandContext& context) {
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  const bool only_kind = verb.words.size() == 1 && verb.words[0].find('/') == std::string::npos;
  if (only_kind) {
    std::istringstream kinds(verb.words[0]);
    for (std::string each; std::getline(kinds, each, ',');) {
      TRY(KnownKind kind, session.kind(each));
      CHECK_DONE(Getter(verb, session, std::move(kind), {}).run());
    }
    return Done{};
  }
  TRY(const auto names, parse_object_names(verb.words));
  for (const ObjectName& each : names) {
    TRY(KnownKind kind, session.kind(each.kind));
    CHECK_DONE(Getter(verb, session, std::move(kind), {each.name}).run());
  }
  return Done{};
}

void add_get(CLI::App& local, Command& chosen) {
  const auto subcommand = add_verb<Get>(
      local, chosen, "get", "Shows objects.",
      R"(  paddlectl local get paddlejobs
  paddlectl local get pdj train -o yaml
  paddlectl local get pods,pvc -A -o wide
  paddlectl local get samplesets -w)",
      [](Get& verb) -> Result<> {
        const bool object = verb.output == "json" || verb.output == "yaml";
        if (verb.watch && object) {
          return Error{Code::kInvalid, "-w shows tables and names, not " + verb.output};
        }
        if (verb.watch && verb.words[0].find(',') != std::string::npos) {
          return Error{Code::kInvalid, "-w watches one kind"};
        }
        if (verb.words.size() > 1 || verb.words[0].find('/') != std::string::npos) {
          if (verb.all_namespaces) {
            return Error{Code::kInvalid, "an object is in one namespace: use -n instead of -A"};
          }
          return parse_object_names(verb.words) ? Result<>(Done{})
                                                : parse_object_names(verb.words).error();
        }
        return Done{};
      });
  Get& verb = *subcommand.verb;
  subcommand.app->add_option("kind", verb.words, "KIND[,KIND...], KIND NAME... or KIND/NAME...")
      ->required();
  add_namespace(subcommand);
  subcommand.app->add_flag("-A,--all-namespaces", verb.all_namespaces, "in all namespaces");
  subcommand.app->add_flag("-w,--watch", verb.watch, "watch for changes");
  subcommand.app->add_option("-l,--selector", verb.selector, "labels, like a=b,c!=d");
  subcommand.app->add_option("-o,--output", verb.output, "table, wide, json, yaml or name")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "name"}));
}

}  // namespace paddle::cli
