// SPDX-License-Identifier: Apache-2.0
#include "engine/manifests.h"

#include <nlohmann/json.hpp>

#include "engine/names.h"

namespace paddle::engine {

using api::Json;

Json metadata(const api::SampleSet& set, const std::string& engine, const std::string& ns,
              const std::string& name) {
  api::Meta meta{
      .key = {ns, name},
      .labels = {{cache_label(set, engine), "true"}, {kSetLabel, set.meta.key.name}},
      .annotations = {{"CreatedBy", "paddle-operator"}, {kSetUidAnnotation, set.meta.uid}}};
  // A namespace's object can not own one without.
  if (!ns.empty()) meta.owners = {owner_reference(set)};
  return api::encode_meta(meta);
}

std::map<std::string, std::string> runtime_labels(const api::SampleSet& set,
                                                  const std::string& engine) {
  return {{cache_label(set, engine), "true"}, {"name", runtime_name(set)}};
}

Json runtime_service(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", metadata(set, engine, set.meta.key.ns, service_name(set))},
          {"spec",
           {{"clusterIP", "None"},
            {"selector", runtime_labels(set, engine)},
            {"ports", Json::array({Json{{"name", "service"}, {"port", 7716}}})}}}};
}

Json runtime_policy(const api::SampleSet& set, const std::string& engine,
                    const RuntimeOptions& options) {
  const auto labels = runtime_labels(set, engine);
  const Json from_operator = {
      {"namespaceSelector",
       {{"matchLabels", {{"kubernetes.io/metadata.name", options.operator_namespace}}}}}};
  const Json from_runtimes = {{"podSelector", {{"matchLabels", labels}}}};
  return {
      {"apiVersion", "networking.k8s.io/v1"},
      {"kind", "NetworkPolicy"},
      {"metadata", metadata(set, engine, set.meta.key.ns, runtime_name(set))},
      {"spec",
       {{"podSelector", {{"matchLabels", labels}}},
        {"policyTypes", Json::array({"Ingress"})},
        {"ingress", Json::array({Json{
                        {"from", Json::array({from_operator, from_runtimes})},
                        {"ports", Json::array({Json{{"port", 7716}, {"protocol", "TCP"}}})}}})}}}};
}

}  // namespace paddle::engine
