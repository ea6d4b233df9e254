// SPDX-License-Identifier: Apache-2.0
#include "cli/get.h"

#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/json/yaml_writer.h"
#include "cli/results.h"
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

// Everything of one request: a kind with the names in the order that they were given, or all.
struct Wanted {
  KnownKind kind{};
  std::vector<std::string> names{};  // empty: a list
};

class Getter {
 public:
  Getter(const Get& verb, Session& session) : verb_(verb), session_(session) {}

  // Objects that do not exist are reported after those that do.
  Result<> run(const std::vector<Wanted>& all) {
    std::vector<KindResult> documents;
    std::optional<Error> missing;
    for (const Wanted& wanted : all) {
      std::vector<Json> found;
      const std::vector<std::string> paths = paths_of(wanted);
      for (const std::string& path : paths) {
        auto got = fetch(session_, path, accept());
        if (!got && !got.is(Code::kNotFound)) return std::move(got).error();
        if (got) {
          found.push_back(*std::move(got));
        } else if (!missing) {
          missing = std::move(got).error();
        }
      }
      if (verb_.watch && !missing) return show_and_follow(wanted, found.at(0));
      if (as_document()) {
        for (Json& each : found) documents.push_back({wanted.kind.resource, std::move(each)});
      } else {
        show(wanted, std::move(found), true);
      }
    }
    if (!documents.empty()) print_document(one_document(std::move(documents)));
    if (missing) return *std::move(missing);
    return Done{};
  }

 private:
  bool as_table() const { return verb_.output == "table" || verb_.output == "wide"; }
  bool as_document() const { return verb_.output == "json" || verb_.output == "yaml"; }
  const char* accept() const { return as_table() ? kAsTable : kAsIs; }
  std::string ns(const KnownKind& kind) const {
    const bool one = kind.resource.namespaced && !verb_.all_namespaces;
    return one ? verb_.flags.namespace_or_default() : "";
  }

  std::string list_path(const KnownKind& kind, const std::string& name,
                        const std::string& since) const {
    std::string path = kube::path_of(kind.resource, {ns(kind), ""});
    net::add_query(path, "labelSelector", verb_.selector);
    if (!name.empty()) net::add_query(path, "fieldSelector", "metadata.name=" + name);
    if (!since.empty()) {
      net::add_query(path, "watch", "true");
      net::add_query(path, "resourceVersion", since);
    }
    return path;
  }

  std::vector<std::string> paths_of(const Wanted& wanted) const {
    if (wanted.names.empty()) return {list_path(wanted.kind, "", "")};
    std::vector<std::string> paths;
    for (const std::string& name : wanted.names) {
      paths.push_back(kube::path_of(wanted.kind.resource, {ns(wanted.kind), name}));
    }
    return paths;
  }

  void print_document(const Json& document) {
    if (verb_.output == "json") return session_.terminal().line(document.dump(2));
    session_.terminal().print(api::to_block_yaml(document));
  }

  // As a table or as names. Returns whether anything was printed.
  bool show(const Wanted& wanted, std::vector<Json> found, bool heading) {
    if (as_table()) {
      const bool with_namespace = verb_.all_namespaces && wanted.kind.resource.namespaced;
      const std::string text = print_table(
          merged_table(std::move(found)),
          {.wide = verb_.output == "wide", .with_namespace = with_namespace, .heading = heading});
      if (text.empty() && wanted.names.empty() && heading) report_none(wanted.kind);
      session_.terminal().print(text);
      return !text.empty();
    }
    for (const Json& given : found) {
      const bool list = given.contains("items");
      for (const Json& each : list ? api::look_list(given, "items") : Json::array({given})) {
        session_.terminal().line(wanted.kind.qualified_name() + "/" +
                                 api::look_text(each, "/metadata/name"));
      }
    }
    return !found.empty();
  }

  void report_none(const KnownKind& kind) {
    const std::string where = ns(kind);
    session_.terminal().message("no " + kind.resource.plural + " found" +
                                (where.empty() ? "" : " in namespace " + where));
  }

  Result<> show_and_follow(const Wanted& wanted, const Json& first) {
    const std::string name = wanted.names.empty() ? "" : wanted.names[0];
    const bool shown = show(wanted, {first}, true);
    return follow(wanted, name, api::look_text(first, "/metadata/resourceVersion"), !shown);
  }

  // Runs until the user or the server ends the watch; each event is one line of JSON.
  Result<> follow(const Wanted& wanted, const std::string& name, const std::string& since,
                  bool heading) {
    std::string rest;
    auto done = session_.client().stream_raw(
        list_path(wanted.kind, name, since), accept(),
        [&](std::string_view piece) -> Result<> {
          rest += piece;
          for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
            TRY(const Json event, api::parse_json(rest.substr(0, end)));
            rest.erase(0, end + 1);
            const Json& object = api::look(event, "object");
            if (object.is_null() || api::look_text(event, "type") == "BOOKMARK") continue;
            if (show(wanted, {object}, heading)) heading = false;
          }
          return Done{};
        },
        session_.call());
    if (done || done.is(Code::kCancelled)) return Done{};
    return session_.explained(std::move(done).error());
  }

  const Get& verb_;
  Session& session_;
};

// Names that follow each other and have the same kind are one request.
Result<std::vector<Wanted>> wanted_of(Session& session, const Get& verb) {
  std::vector<Wanted> all;
  const bool only_kind = verb.words.size() == 1 && verb.words[0].find('/') == std::string::npos;
  if (only_kind) {
    std::istringstream kinds(verb.words[0]);
    for (std::string each; std::getline(kinds, each, ',');) {
      TRY(KnownKind kind, session.kind(each));
      all.push_back({.kind = std::move(kind)});
    }
    return all;
  }
  TRY(const auto names, parse_object_names(verb.words));
  for (const ObjectName& each : names) {
    TRY(KnownKind kind, session.kind(each.kind));
    if (all.empty() || all.back().kind != kind) all.push_back({.kind = std::move(kind)});
    all.back().names.push_back(each.name);
  }
  return all;
}

}  // namespace

Result<> run(const Get& verb, const CommandContext& context) {
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  TRY(const auto all, wanted_of(session, verb));
  return Getter(verb, session).run(all);
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
        const std::size_t names = verb.words[0].find('/') == std::string::npos ? 2 : 1;
        if (verb.watch && verb.words.size() > names) {
          return Error{Code::kInvalid, "-w watches one object, or all of a kind"};
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
