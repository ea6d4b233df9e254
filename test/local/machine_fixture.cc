// SPDX-License-Identifier: Apache-2.0
#include "test/local/machine_fixture.h"

#include <filesystem>

#include <unistd.h>

#include "engine/samplefs/volumes.h"
#include "local/cluster/cluster_controllers.h"
#include "local/node/pod_logs.h"
#include "test/local/machine_main.h"
#include "test/support/eventually.h"

namespace paddle::local {

namespace kinds = kube::resources;
namespace ours = engine::samplefs;

void MachineTest::SetUp() {
  if (geteuid() != 0) GTEST_SKIP() << "namespaces and mounts need root";
  ApiServerOptions options{.directory = scratch_.path() + "/api"};
  options.api.logs = pod_logs(directory());
  auto server = ApiServer::start(options);
  ASSERT_TRUE(server) << server.error().message;
  server_ = *std::move(server);
  client_ = std::make_unique<kube::Client>(kube::Config{.server = server_->url(),
                                                        .tls = {.ca_pem = server_->certificate()},
                                                        .proxy = "",
                                                        .token = server_->token()});
  auto manager = controllers::Manager::make(
      *client_, {.metrics_address = "0", .health_address = "0"}, metrics_);
  ASSERT_TRUE(manager) << manager.error().message;
  manager_ = *std::move(manager);
  ASSERT_TRUE(add_cluster_controllers(*manager_));
  duties_ = std::jthread([this](std::stop_token stop) {
    const auto ended = manager_->run(stop);
    EXPECT_TRUE(ended) << ended.error().message;
  });
  start_node();
}

void MachineTest::TearDown() {
  node_.reset();
  duties_ = {};
  manager_.reset();
  std::error_code error;
  if (std::filesystem::exists(directory() + "/mounts", error)) {
    EXPECT_TRUE(std::filesystem::is_empty(directory() + "/mounts")) << "a mount was left";
  }
}

void MachineTest::start_node() {
  auto node = Node::start(
      *client_, {.directory = directory(), .base_env = {{"PATH", "/usr/bin:/bin"}}}, metrics_);
  ASSERT_TRUE(node) << node.error().message;
  node_ = *std::move(node);
}

Json MachineTest::pod(const std::string& name, const std::string& script,
                      const std::string& restart) {
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", name}, {"namespace", "default"}}},
      {"spec",
       {{"restartPolicy", restart},
        {"containers", Json::array({Json{{"name", "main"},
                                         {"image", "none"},
                                         {"command", Json::array({"/bin/sh", "-c", script})}}})}}}};
}

void MachineTest::mount(Json& pod, const std::string& path, Json volume, const std::string& sub) {
  Json& spec = pod["spec"];
  const std::string name = "v" + std::to_string(spec.value("volumes", Json::array()).size());
  volume["name"] = name;
  spec["volumes"].push_back(std::move(volume));
  Json place = {{"name", name}, {"mountPath", path}};
  if (!sub.empty()) place["subPath"] = sub;
  spec["containers"][0]["volumeMounts"].push_back(std::move(place));
}

Json MachineTest::create(const kube::Resource& resource, const Json& object) {
  auto made = client_->create(resource, object);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *std::move(made) : Json::object();
}

Json MachineTest::get(const kube::Resource& resource, const std::string& name) {
  auto found = client_->get(resource, {resource.namespaced ? "default" : "", name});
  return found ? *std::move(found) : Json::object();
}

bool MachineTest::gone(const kube::Resource& resource, const std::string& name) {
  return client_->get(resource, {resource.namespaced ? "default" : "", name}).is(Code::kNotFound);
}

std::string MachineTest::phase(const std::string& name) {
  return get(kinds::kPods, name).value(Json::json_pointer("/status/phase"), "");
}

void MachineTest::expect_phase(const std::string& name, const std::string& wanted) {
  EXPECT_TRUE(test::eventually([&] { return phase(name) == wanted; }))
      << get(kinds::kPods, name).value("status", Json()).dump(2) << "\n"
      << logs(name);
}

std::string MachineTest::logs(const std::string& name, const std::string& query) {
  auto text = client_->get_raw("/api/v1/namespaces/default/pods/" + name + "/log?" + query);
  return text ? *std::move(text) : "error: " + text.error().message;
}

Json sample_volume(const std::string& handle, const std::string& claim) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolume"},
          {"metadata", {{"name", handle}}},
          {"spec",
           {{"capacity", {{"storage", "1Gi"}}},
            {"accessModes", Json::array({"ReadOnlyMany"})},
            {"storageClassName", "paddle-operator"},
            {"claimRef", {{"namespace", "default"}, {"name", claim}}},
            {"csi", {{"driver", ours::kDriver}, {"volumeHandle", handle}}}}}};
}

Json sample_claim(const std::string& name, const std::string& volume) {
  return {{"apiVersion", "v1"},
          {"kind", "PersistentVolumeClaim"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec",
           {{"accessModes", Json::array({"ReadOnlyMany"})},
            {"storageClassName", "paddle-operator"},
            {"volumeName", volume},
            {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}};
}

Json sample_runtime(const std::string& set, const std::string& handle) {
  // As a volume: pods do not see this machine's /tmp, where it may have been built.
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto inline_volume = [&](const char* name, const char* kind) {
    return Json{{"name", name},
                {"csi",
                 {{"driver", ours::kDriver},
                  {"volumeAttributes",
                   {{ours::kVolumeAttribute, kind}, {ours::kHandleAttribute, handle}}}}}};
  };
  const Json container = {
      {"name", "runtime"},
      {"image", "none"},
      {"command", Json::array({"/runtime-program", kServeSamplesCommand})},
      {"volumeMounts", Json::array({Json{{"name", "program"}, {"mountPath", "/runtime-program"}},
                                    Json{{"name", "session"}, {"mountPath", ours::kSessionPath}},
                                    Json{{"name", "cache"},
                                         {"mountPath", std::string(ours::kCachePath) + "/0"}}})}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "StatefulSet"},
          {"metadata", {{"name", set + "-runtime"}, {"namespace", "default"}}},
          {"spec",
           {{"replicas", 1},
            {"serviceName", set + "-runtime-service"},
            {"selector", {{"matchLabels", {{"set", set}}}}},
            {"template",
             {{"metadata", {{"labels", {{"set", set}}}}},
              {"spec",
               {{"terminationGracePeriodSeconds", 1},
                {"containers", Json::array({container})},
                {"volumes",
                 Json::array({inline_volume("session", ours::kSessionVolume),
                              inline_volume("cache", ours::kCacheVolume),
                              Json{{"name", "program"},
                                   {"hostPath", {{"path", self}, {"type", "File"}}}}})}}}}}}}};
}

}  // namespace paddle::local
