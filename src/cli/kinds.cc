// SPDX-License-Identifier: Apache-2.0
#include "cli/kinds.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::cli {
namespace {

using api::Json;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Result<Json> get_json(kube::Client& client, const std::string& path, const kube::Call& call) {
  TRY(const std::string text, client.get_raw(path, call));
  return api::parse_json(text);
}

bool has_name(const KnownKind& kind, const std::string& name) {
  const auto is = [&](const std::string& one) {
    return name == one || (!kind.resource.group.empty() && name == one + "." + kind.resource.group);
  };
  return is(kind.resource.plural) || is(kind.singular) || std::ranges::any_of(kind.short_names, is);
}

}  // namespace

std::string KnownKind::qualified_name() const {
  return resource.group.empty() ? singular : singular + "." + resource.group;
}

std::vector<KnownKind> kinds_in(const Json& list) {
  std::vector<KnownKind> found;
  const std::string group_version = api::look_text(list, "groupVersion");
  const auto slash = group_version.find('/');
  const bool core = slash == std::string::npos;
  for (const Json& each : api::look_list(list, "resources")) {
    const std::string plural = api::look_text(each, "name");
    if (plural.empty() || plural.find('/') != std::string::npos) continue;
    KnownKind kind{.resource = {.group = core ? "" : group_version.substr(0, slash),
                                .version = core ? group_version : group_version.substr(slash + 1),
                                .plural = plural,
                                .kind = api::look_text(each, "kind"),
                                .namespaced = api::look_flag(each, "namespaced")},
                   .singular = api::look_text(each, "singularName")};
    if (kind.singular.empty()) kind.singular = lower(kind.resource.kind);
    for (const Json& name : api::look_list(each, "shortNames")) {
      if (name.is_string()) kind.short_names.push_back(name.get<std::string>());
    }
    found.push_back(std::move(kind));
  }
  return found;
}

Result<Kinds> Kinds::discover(kube::Client& client, const kube::Call& call) {
  TRY(const Json core, get_json(client, "/api/v1", call));
  std::vector<KnownKind> all = kinds_in(core);
  TRY(const Json groups, get_json(client, "/apis", call));
  for (const Json& group : api::look_list(groups, "groups")) {
    for (const Json& version : api::look_list(group, "versions")) {
      const std::string path = "/apis/" + api::look_text(version, "groupVersion");
      TRY(const Json list, get_json(client, path, call));
      for (KnownKind& kind : kinds_in(list)) all.push_back(std::move(kind));
    }
  }
  return Kinds(std::move(all));
}

Result<KnownKind> Kinds::named(const std::string& name) const {
  const std::string wanted = lower(name);
  for (const KnownKind& kind : kinds_) {
    if (has_name(kind, wanted)) return kind;
  }
  std::string known;
  for (const KnownKind& kind : kinds_) {
    known += (known.empty() ? "" : ", ") + kind.resource.plural;
  }
  return Error{Code::kNotFound, "unknown kind '" + name + "': known kinds are " + known};
}

Result<KnownKind> Kinds::of_object(const Json& object) const {
  const std::string version = api::look_text(object, "apiVersion"),
                    name = api::look_text(object, "kind");
  if (version.empty() || name.empty()) {
    return Error{Code::kInvalid, "it has no apiVersion or no kind"};
  }
  for (const KnownKind& kind : kinds_) {
    if (kind.resource.kind == name && kind.resource.api_version() == version) return kind;
  }
  return Error{Code::kNotFound,
               "the server does not serve the kind " + name + " in version " + version};
}

}  // namespace paddle::cli
