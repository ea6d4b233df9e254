// SPDX-License-Identifier: Apache-2.0
#include "local/node/service_names.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"

namespace paddle::local {
namespace {

bool is_selected(const NamedService& service, const AssignedPod& pod) {
  return !service.selector.empty() && std::ranges::all_of(service.selector, [&](const auto& label) {
    const auto found = pod.meta.labels.find(label.first);
    return found != pod.meta.labels.end() && found->second == label.second;
  });
}

bool has_ended(const AssignedPod& pod) { return api::pod_phase::is_final(pod.phase); }

// A line with the four names that DNS would resolve in the namespace.
std::string line(const std::string& address, const std::string& name, const std::string& ns) {
  const std::string in_namespace = name + "." + ns;
  return address + "\t" + name + " " + in_namespace + " " + in_namespace + ".svc " + in_namespace +
         ".svc.cluster.local\n";
}

}  // namespace

Result<NamedService> decode_named_service(const api::Json& object) {
  NamedService service;
  TRY(const api::Meta meta, api::decode_meta(object));
  service.key = meta.key;
  const api::Json& selector = api::look(object, "/spec/selector");
  if (!selector.is_object()) return service;
  for (const auto& [name, value] : selector.items()) {
    if (value.is_string()) service.selector[name] = value.get<std::string>();
  }
  return service;
}

bool changes_names(const AssignedPod* before, const AssignedPod* after) {
  if (!before || !after) return true;
  return before->ip != after->ip || has_ended(*before) != has_ended(*after) ||
         before->meta.deleting() != after->meta.deleting() ||
         before->meta.labels != after->meta.labels;
}

std::string service_lines(const std::vector<std::shared_ptr<const NamedService>>& services,
                          const std::vector<std::shared_ptr<const AssignedPod>>& pods) {
  const auto by_key = [](const auto& a, const auto& b) { return a->key < b->key; };
  std::vector<std::shared_ptr<const NamedService>> ordered = services;
  std::ranges::sort(ordered, by_key);
  std::vector<const AssignedPod*> addressed;
  for (const auto& pod : pods) {
    if (!pod->ip.empty() && !has_ended(*pod)) addressed.push_back(pod.get());
  }
  std::ranges::sort(addressed, {}, [](const AssignedPod* pod) { return pod->meta.key; });

  std::string text;
  for (const auto& service : ordered) {
    std::vector<const AssignedPod*> selected;
    std::ranges::copy_if(addressed, std::back_inserter(selected),
                         [&](const AssignedPod* pod) { return is_selected(*service, *pod); });
    const bool any_stays =
        std::ranges::any_of(selected, [](const AssignedPod* pod) { return !pod->meta.deleting(); });
    for (const AssignedPod* pod : selected) {
      if (any_stays && pod->meta.deleting()) continue;
      text += line(pod->ip, service->key.name, service->key.ns);
      if (!pod->spec || pod->spec->hostname.empty()) continue;
      if (pod->spec->subdomain != service->key.name) continue;
      text += line(pod->ip, pod->spec->hostname + "." + service->key.name, service->key.ns);
    }
  }
  return text;
}

}  // namespace paddle::local
