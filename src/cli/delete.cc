// SPDX-License-Identifier: Apache-2.0
#include "cli/delete.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "cli/documents.h"
#include "cli/verb.h"

namespace paddle::cli {
namespace {

using api::Json;

struct DeleteTarget {
  KnownKind kind{};
  kube::ObjectKey key{};
};

Result<std::vector<DeleteTarget>> find_all(Session& session, const Delete& verb,
                                           const std::vector<Document>& documents) {
  std::vector<DeleteTarget> found;
  const auto add = [&](const KnownKind& kind, const std::string& ns, const std::string& name) {
    found.push_back({kind, {kind.resource.namespaced ? ns : "", name}});
  };
  for (const Document& each : documents) {
    auto kind = session.kind_of(each.object);
    if (!kind) return std::move(kind).error().in(each.where);
    const std::string ns = api::look_text(each.object, "/metadata/namespace");
    add(*kind, ns.empty() ? verb.flags.namespace_or_default() : ns,
        api::look_text(each.object, "/metadata/name"));
  }
  if (verb.words.empty()) return found;
  if (verb.all || !verb.selector.empty()) {
    TRY(const KnownKind kind, session.kind(verb.words[0]));
    const std::string ns = kind.resource.namespaced ? verb.flags.namespace_or_default() : "";
    auto listed = session.client().list(
        kind.resource, {.ns = ns, .label_selector = verb.selector},
        [&](std::string_view text) -> Result<> {
          TRY(const Json object, api::parse_json(text));
          add(kind, ns, api::look_text(object, "/metadata/name"));
          return Done{};
        },
        session.call());
    if (!listed) return session.explained(std::move(listed).error());
    return found;
  }
  TRY(const auto names, parse_object_names(verb.words));
  for (const ObjectName& each : names) {
    TRY(const KnownKind kind, session.kind(each.kind));
    add(kind, verb.flags.namespace_or_default(), each.name);
  }
  return found;
}

// Returns when the object is gone or was replaced by one of the same name.
Result<> wait_until_gone(Session& session, const DeleteTarget& it, const std::string& uid,
                         const std::optional<BootTime>& deadline) {
  for (;;) {
    auto now = session.client().get(it.kind.resource, it.key, session.call());
    if (now.is(Code::kNotFound)) return Done{};
    if (!now) return std::move(now).error();
    if (api::look_text(*now, "/metadata/uid") != uid) return Done{};
    const std::string name = it.kind.qualified_name() + "/" + it.key.name;
    if (deadline && session.clock().boot() >= *deadline) {
      return Error{Code::kDeadline, name + " is being deleted but still exists"};
    }
    if (session.terminal().live())
      session.terminal().progress("waiting for the deletion of " + name);
    if (!session.clock().sleep(std::chrono::milliseconds{100}, session.terminal().stop())) {
      return Error{Code::kCancelled, name + " is being deleted; no longer waiting for it"};
    }
  }
}

}  // namespace

Result<> run(const Delete& verb, const CommandContext& context) {
  std::vector<Document> documents;
  for (const std::string& file : verb.files) {
    TRY(auto some, read_documents(file));
    for (Document& document : some) documents.push_back(std::move(document));
  }
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  TRY(const auto all, find_all(session, verb, documents));
  std::optional<BootTime> deadline;
  if (verb.timeout_seconds > 0) {
    deadline = context.clock.boot() + std::chrono::seconds{verb.timeout_seconds};
  }
  std::vector<std::pair<DeleteTarget, std::string>> going;
  for (const DeleteTarget& it : all) {
    auto now = session.client().get(it.kind.resource, it.key, session.call());
    auto done = now ? session.client().remove(it.kind.resource, it.key,
                                              {.uid = api::look_text(*now, "/metadata/uid")},
                                              session.call())
                    : Result<>(now.error());
    if (done.is(Code::kNotFound) && verb.ignore_not_found) continue;
    if (!done) return session.explained(std::move(done).error());
    context.terminal.line(it.kind.qualified_name() + " \"" + it.key.name + "\" deleted");
    going.emplace_back(it, api::look_text(*now, "/metadata/uid"));
  }
  if (!verb.wait) return Done{};
  for (const auto& [it, uid] : going) {
    auto done = wait_until_gone(session, it, uid, deadline);
    if (!done) return session.explained(std::move(done).error());
  }
  return Done{};
}

void add_delete(CLI::App& local, Command& chosen) {
  const auto subcommand = add_verb<Delete>(
      local, chosen, "delete", "Deletes objects and waits until they are gone.",
      R"(  paddlectl local delete paddlejob train
  paddlectl local delete pod/a pod/b --wait=false
  paddlectl local delete paddlejobs --all
  paddlectl local delete -f train.yaml --ignore-not-found)",
      [](Delete& verb) -> Result<> {
        if (verb.words.empty() == verb.files.empty()) {
          return Error{Code::kInvalid, "either KIND NAME or -f FILE is required"};
        }
        const bool several = verb.all || !verb.selector.empty();
        if (several && (verb.words.size() != 1 || verb.words[0].find('/') != std::string::npos)) {
          return Error{Code::kInvalid, "--all and -l need one KIND and no name"};
        }
        if (verb.words.empty() || several) return Done{};
        const auto names = parse_object_names(verb.words);
        return names ? Result<>(Done{}) : names.error();
      });
  Delete& verb = *subcommand.verb;
  subcommand.app->add_option("what", verb.words, "KIND NAME... or KIND/NAME...");
  subcommand.app->add_option("-f,--filename", verb.files,
                             "file, directory, or - for standard input");
  add_namespace(subcommand);
  subcommand.app->add_flag("--all", verb.all, "all objects of the kind in the namespace");
  subcommand.app->add_option("-l,--selector", verb.selector,
                             "those of the kind with these labels, like a=b,c!=d");
  subcommand.app->add_flag("--wait,!--no-wait", verb.wait,
                           "wait until they are gone; default: true");
  subcommand.app->add_flag("--ignore-not-found", verb.ignore_not_found,
                           "succeed if an object does not exist");
  subcommand.app->add_option("--timeout", verb.timeout_seconds, "seconds to wait; 0: no limit")
      ->transform(
          CLI::AsNumberWithUnit(std::map<std::string, int>{{"s", 1}, {"m", 60}, {"h", 3600}}));
}

}  // namespace paddle::cli
