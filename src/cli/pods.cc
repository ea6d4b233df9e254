// SPDX-License-Identifier: Apache-2.0
#include "cli/pods.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::cli {
namespace {

using api::Json;

const kube::Resource kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet", true};

bool is_owned(const Json& object, const std::set<std::string>& uids) {
  return std::ranges::any_of(
      api::look_list(object, "/metadata/ownerReferences"),
      [&](const Json& o) { return uids.contains(api::look_text(o, "uid")); });
}

}  // namespace

Result<std::vector<OwnedPod>> pods_of(Session& session, const Json& object) {
  const std::string ns = api::look_text(object, "/metadata/namespace");
  std::set<std::string> owners{api::look_text(object, "/metadata/uid")};
  auto listed = session.client().list(
      kStatefulSets, {.ns = ns},
      [&](std::string_view text) -> Result<> {
        TRY(const Json set, api::parse_json(text));
        if (is_owned(set, owners)) owners.insert(api::look_text(set, "/metadata/uid"));
        return Done{};
      },
      session.call());
  if (!listed) return session.explained(std::move(listed).error());
  std::vector<OwnedPod> found;
  listed = session.client().list(
      kube::resources::kPods, {.ns = ns},
      [&](std::string_view text) -> Result<> {
        TRY(const Json pod, api::parse_json(text));
        if (!is_owned(pod, owners)) return Done{};
        found.push_back({.key = {ns, api::look_text(pod, "/metadata/name")},
                         .uid = api::look_text(pod, "/metadata/uid"),
                         .phase = api::look_text(pod, "/status/phase"),
                         .ip = api::look_text(pod, "/status/podIP")});
        return Done{};
      },
      session.call());
  if (!listed) return session.explained(std::move(listed).error());
  std::ranges::sort(found, {}, [](const OwnedPod& pod) { return pod.key.name; });
  return found;
}

}  // namespace paddle::cli
