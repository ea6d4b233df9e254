// SPDX-License-Identifier: Apache-2.0
//
// SampleJobs on a runtime with TLS whose Secret is renewed: token and authority change, in the
// Secret and in the runtime's files, in either order.

#include <functional>
#include <thread>

#include <nlohmann/json.hpp>

#include "api/sample_job.h"
#include "base/base64.h"
#include "base/clock.h"
#include "controllers/sample_job/reconciler.h"
#include "engine/juicefs/manifests.h"
#include "engine/names.h"
#include "kube/fake/fake_cluster.h"
#include "runtime/runtime_secret.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using namespace std::chrono_literals;
using kube::Json;
namespace kinds = kube::resources;
const api::ObjectKey kRenewedSet{"test", "set"};

class RenewalTest : public RuntimeTest {
 protected:
  runtime::SecretData identity(const runtime::SecretData& before) {
    return *runtime::make_runtime_secret(kRenewedSet.ns, kRenewedSet.name, before,
                                         system_clock().wall(),
                                         {.lifetime = std::chrono::minutes{10}});
  }

  // A set whose engine serves TLS, Ready, with one runtime.
  void create_set() {
    auto made = server_side_.create(
        kinds::kSampleSets,
        {{"apiVersion", api::SampleSet::kApiVersion},
         {"kind", api::SampleSet::kKind},
         {"metadata", {{"namespace", kRenewedSet.ns}, {"name", kRenewedSet.name}}},
         {"spec", {{"source", {{"uri", "s3://bucket/images"}}}}}});
    ASSERT_TRUE(made) << made.error().message;
    set_ = *api::decode_sample_set(*made);
    (*made)["status"] = {{"phase", "Ready"}, {"engine", "juicefs"}};
    ASSERT_TRUE(server_side_.update(kinds::kSampleSets, *made, "status"));
    const Json owner = {{"apiVersion", "apps/v1"},
                        {"kind", "StatefulSet"},
                        {"name", engine::runtime_name(set_)},
                        {"uid", "stateful-set"},
                        {"controller", true}};
    auto pod =
        server_side_.create(kinds::kPods, {{"apiVersion", "v1"},
                                           {"kind", "Pod"},
                                           {"metadata",
                                            {{"namespace", kRenewedSet.ns},
                                             {"name", engine::runtime_pod_name(set_, 0)},
                                             {"labels", {{engine::kSetLabel, kRenewedSet.name}}},
                                             {"ownerReferences", Json::array({owner})}}},
                                           {"spec", {{"nodeName", "node-0"}}}});
    ASSERT_TRUE(pod) << pod.error().message;
    (*pod)["status"] = {{"phase", "Running"}, {"podIP", "127.0.0.1"}};
    ASSERT_TRUE(server_side_.update(kinds::kPods, *pod, "status"));
  }

  void put_secret(const runtime::SecretData& data) {
    const api::ObjectKey key{kRenewedSet.ns, engine::runtime_name(set_)};
    Json secret = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"data", Json::object()}};
    secret["metadata"] = api::encode_meta({.key = key, .owners = {engine::owner_reference(set_)}});
    for (const auto& [name, value] : data) secret["data"][name] = base64_encode(value);
    (void)server_side_.remove(kinds::kSecrets, key, {});
    ASSERT_TRUE(server_side_.create(kinds::kSecrets, secret));
  }

  void create_job(const std::string& name) {
    const auto made = server_side_.create(
        kinds::kSampleJobs,
        {{"apiVersion", api::SampleJob::kApiVersion},
         {"kind", api::SampleJob::kKind},
         {"metadata", {{"namespace", kRenewedSet.ns}, {"name", name}}},
         {"spec", {{"type", "clear"}, {"sampleSetRef", {{"name", kRenewedSet.name}}}}}});
    ASSERT_TRUE(made) << made.error().message;
  }
  api::SampleJob job(const std::string& name) {
    const auto found = server_side_.get(kinds::kSampleJobs, {kRenewedSet.ns, name});
    return found ? *api::decode_sample_job(*found) : api::SampleJob{};
  }
  bool succeeds(const std::string& name) {
    return eventually([&] { return job(name).status.phase == "Succeeded"; });
  }
  // Such words in its condition Ready.
  bool says(const std::string& name, const std::string& words) {
    return eventually([&] {
      const auto now = job(name);
      const auto* ready = api::find_condition(now.status.conditions, "Ready");
      return ready && ready->message.find(words) != std::string::npos;
    });
  }

  std::jthread manage() {
    auto made = controllers::Manager::make(
        server_side_, {.metrics_address = "0", .health_address = "0"}, metrics_);
    EXPECT_TRUE(made);
    manager_ = *std::move(made);
    controllers::sample_job::Options options;
    options.engines = {std::make_shared<engine::juicefs::JuicefsManifestBuilder>()};
    const auto connections = runtime::make_runtime_connections();
    options.polls = [this, polls = runtime::http_polls_at(connections, 10s)](
                        runtime::PollCall call, runtime::PollDone done) {
      call.address = address_;
      polls(std::move(call), std::move(done));
    };
    options.sends = [this, sends = runtime::http_sends_at(connections, 10s)](
                        runtime::JobCall call, runtime::SendDone done) {
      call.address = address_;
      sends(std::move(call), std::move(done));
    };
    EXPECT_TRUE(manager_->add({.name = controllers::sample_job::kControllerName, .workers = 2},
                              [options](const controllers::ControllerContext& around) {
                                return controllers::sample_job::make_reconciler(around, options,
                                                                                system_clock());
                              }));
    return std::jthread([this](std::stop_token stop) { EXPECT_TRUE(manager_->run(stop)); });
  }

  kube::FakeCluster server_side_{};
  api::SampleSet set_{};
  Metrics metrics_{};
  std::unique_ptr<controllers::Manager> manager_{};
};

TEST_F(RenewalTest, SampleJobsContinueWhicheverOfSecretAndRuntimeIsRenewedFirst) {
  const auto first = identity({});
  write_identity(first);
  start_over_tls();
  create_set();
  put_secret(first);
  const auto running = manage();
  create_job("before");
  ASSERT_TRUE(succeeds("before")) << logs();

  // The Secret first, as kubelet does it.
  const auto second = identity(first);
  put_secret(second);
  create_job("secret-first");
  EXPECT_TRUE(succeeds("secret-first")) << "the runtime has not heard of it yet";
  write_identity(second);
  create_job("both");
  EXPECT_TRUE(succeeds("both")) << "another authority";

  // The runtime first: our manager reads a Secret that is older, until it is not.
  const auto third = identity(second);
  write_identity(third);
  create_job("runtime-first");
  EXPECT_TRUE(says("runtime-first", "certificate is not trusted"));
  put_secret(third);
  EXPECT_TRUE(succeeds("runtime-first"));

  // Deleted and made again: nothing of the one before is in it.
  const auto fourth = identity({});
  put_secret(fourth);
  write_identity(fourth);
  create_job("made-again");
  EXPECT_TRUE(succeeds("made-again"));

  // The other order: who has just started knows the new Secret alone.
  const auto fifth = identity({});
  put_secret(fifth);
  create_job("old-runtime");
  EXPECT_TRUE(succeeds("old-runtime")) << "by what the manager has kept";
  write_identity(fifth);
  create_job("last");
  EXPECT_TRUE(succeeds("last"));
  EXPECT_EQ(logs().find(fifth.at("token")), std::string::npos);
}

}  // namespace
}  // namespace paddle::test
