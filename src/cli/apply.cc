// SPDX-License-Identifier: Apache-2.0
#include "cli/apply.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "cli/documents.h"
#include "cli/verb.h"

namespace paddle::cli {
namespace {

using api::Json;

constexpr const char* kManager = "paddlectl";

// The object without the fields that the server or controllers set.
Json applied_fields(Json object) {
  object.erase("status");
  for (const char* field : {"resourceVersion", "generation", "managedFields"}) {
    object["metadata"].erase(field);
  }
  return object;
}

Result<std::string> apply_one(Session& session, const Apply& verb, Json object) {
  TRY(const KnownKind kind, session.kind_of(object));
  Json& metadata = object["metadata"];
  if (!metadata.is_object() || api::look_text(metadata, "name").empty()) {
    return Error{Code::kInvalid, "it has no metadata.name"};
  }
  if (kind.resource.namespaced && api::look_text(metadata, "namespace").empty()) {
    metadata["namespace"] = verb.flags.namespace_or_default();
  }
  const kube::ObjectKey key{kind.resource.namespaced ? api::look_text(metadata, "namespace") : "",
                            api::look_text(metadata, "name")};
  const auto before = session.client().get(kind.resource, key, session.call());
  if (!before && !before.is(Code::kNotFound)) return before.error();
  const auto after = session.client().patch(kind.resource, key,
                                            {.type = kube::PatchType::kApply,
                                             .body = std::move(object),
                                             .field_manager = kManager,
                                             .force = true,
                                             .strict = true},
                                            "", session.call());
  if (!after) return after.error();
  const char* what = "created";
  if (before) what = applied_fields(*before) == applied_fields(*after) ? "unchanged" : "configured";
  return kind.qualified_name() + "/" + key.name + " " + what;
}

}  // namespace

Result<> run(const Apply& verb, const CommandContext& context) {
  std::vector<Document> all;
  for (const std::string& file : verb.files) {
    TRY(auto some, read_documents(file));
    for (Document& document : some) all.push_back(std::move(document));
  }
  if (all.empty()) return Error{Code::kInvalid, "no object found in " + verb.files.front()};
  TRY(Session session, Session::open(verb.flags.cluster_directory(), context));
  std::optional<Error> first;
  for (Document& document : all) {
    auto done = apply_one(session, verb, std::move(document.object));
    if (done) {
      context.terminal.line(*done);
      continue;
    }
    Error error = session.explained(std::move(done).error()).in(document.where);
    const bool lost = error.code == Code::kUnavailable || error.code == Code::kUntrusted ||
                      error.code == Code::kCancelled;
    if (lost) return error;
    if (first) context.terminal.message("paddlectl: " + error.message);
    if (!first) first = std::move(error);
  }
  if (first) return *std::move(first);
  return Done{};
}

void add_apply(CLI::App& local, Command& chosen) {
  const auto subcommand =
      add_verb<Apply>(local, chosen, "apply", "Creates or updates the objects of a file.",
                      R"(  paddlectl local apply -f train.yaml
  paddlectl local apply -f samples/ -n team
  generate | paddlectl local apply -f -)");
  subcommand.app
      ->add_option("-f,--filename", subcommand.verb->files,
                   "file, directory, or - for standard input; YAML or JSON, one or more documents")
      ->required();
  add_namespace(subcommand);
}

}  // namespace paddle::cli
