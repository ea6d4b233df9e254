// SPDX-License-Identifier: Apache-2.0
#include "local/node/container_plan.h"

#include <nlohmann/json.hpp>

namespace paddle::local {

using api::Json;

Json encode(const ContainerPlan& plan) {
  Json mounts = Json::array();
  for (const BindMount& m : plan.mounts) {
    mounts.push_back({{"source", m.source},
                      {"subPath", m.sub_path},
                      {"target", m.target},
                      {"readOnly", m.read_only},
                      {"createDirectory", m.create_directory}});
  }
  return {{"argv", plan.argv},
          {"env", plan.env},
          {"workingDir", plan.working_dir},
          {"directory", plan.directory},
          {"networkNamespace", plan.network_namespace},
          {"hostname", plan.hostname},
          {"mounts", std::move(mounts)},
          {"hidden", plan.hidden},
          {"security",
           {{"user", plan.security.user},
            {"group", plan.security.group},
            {"groups", plan.security.groups},
            {"capabilities", plan.security.capabilities},
            {"privileged", plan.security.privileged},
            {"noNewPrivileges", plan.security.no_new_privileges},
            {"readOnlyRoot", plan.security.read_only_root}}}};
}

Result<ContainerPlan> decode_container_plan(const Json& from) {
  try {
    ContainerPlan plan;
    from.at("argv").get_to(plan.argv);
    from.at("env").get_to(plan.env);
    from.at("workingDir").get_to(plan.working_dir);
    from.at("directory").get_to(plan.directory);
    from.at("networkNamespace").get_to(plan.network_namespace);
    from.at("hostname").get_to(plan.hostname);
    for (const Json& m : from.at("mounts")) {
      plan.mounts.push_back({.source = m.at("source"),
                             .sub_path = m.at("subPath"),
                             .target = m.at("target"),
                             .read_only = m.at("readOnly"),
                             .create_directory = m.at("createDirectory")});
    }
    from.at("hidden").get_to(plan.hidden);
    const Json& security = from.at("security");
    security.at("user").get_to(plan.security.user);
    security.at("group").get_to(plan.security.group);
    security.at("groups").get_to(plan.security.groups);
    security.at("capabilities").get_to(plan.security.capabilities);
    security.at("privileged").get_to(plan.security.privileged);
    security.at("noNewPrivileges").get_to(plan.security.no_new_privileges);
    security.at("readOnlyRoot").get_to(plan.security.read_only_root);
    return plan;
  } catch (const Json::exception& e) {
    return Error{Code::kInvalid, std::string("container plan: ") + e.what()};
  }
}

}  // namespace paddle::local
