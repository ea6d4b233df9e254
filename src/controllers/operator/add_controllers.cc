// SPDX-License-Identifier: Apache-2.0
#include "controllers/operator/add_controllers.h"

#include "controllers/paddle_job/reconciler.h"
#include "controllers/sample_job/reconciler.h"
#include "controllers/sample_set/reconciler.h"
#include "engine/juicefs/manifests.h"
#include "engine/samplefs/manifests.h"
#include "engine/samplefs/volumes.h"
#include "engine/time_limits.h"
#include "etcd/client.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers {
namespace {

Result<> add_paddle_jobs(Manager& manager, const OperatorOptions& options, const Clock& clock) {
  TRY(auto endpoints, etcd::parse_endpoints(options.etcd_server));
  paddle_job::Options wanted{.ns = options.ns, .config = options.paddle_job};
  wanted.config.etcd = endpoints;
  wanted.config.one_machine = options.one_machine;
  if (!options.one_machine) wanted.config.operator_namespace = options.runtime.operator_namespace;
  if (!endpoints.empty()) {
    wanted.etcd =
        std::make_shared<etcd::Client>(etcd::ClientOptions{.endpoints = endpoints}, clock);
  }
  return manager.add({.name = paddle_job::kControllerName,
                      .lease = paddle_job::kLeaseName,
                      .workers = options.workers},
                     [&](const ControllerContext& around) {
                       return paddle_job::make_reconciler(around, wanted, clock);
                     });
}

// JuiceFS needs its CSI driver, which one machine does not have.
engine::ManifestBuilders engines(bool one_machine) {
  engine::ManifestBuilders all{
      std::make_shared<engine::samplefs::SamplefsManifestBuilder>(one_machine)};
  if (!one_machine) all.push_back(std::make_shared<engine::juicefs::JuicefsManifestBuilder>());
  return all;
}

Result<> add_sample_sets(Manager& manager, const OperatorOptions& options, const Clock& clock) {
  const auto connections = runtime::make_runtime_connections();
  sample_set::Options wanted{
      .ns = options.ns,
      .config = {.engines = engines(options.one_machine), .runtime = options.runtime},
      .polls = runtime::http_runtime_polls(connections, sample_set::kRuntimeCallTimeout),
      .sends = runtime::http_runtime_sends(connections, sample_set::kRuntimeCallTimeout),
      .identity = {.lifetime = options.runtime_secret_lifetime}};
  wanted.config.namespace_cache_mib = options.namespace_cache_mib;
  if (options.one_machine) wanted.config.built_in_drivers.insert(engine::samplefs::kDriver);
  if (!options.juicefs_image.empty()) wanted.config.images["juicefs"] = options.juicefs_image;
  return manager.add({.name = sample_set::kControllerName,
                      .lease = sample_set::kLeaseName,
                      .workers = options.workers,
                      .limits = {.longest_pause = sample_set::kLongestBackoff}},
                     [&](const ControllerContext& around) {
                       return sample_set::make_reconciler(around, wanted, clock);
                     });
}

Result<> add_sample_jobs(Manager& manager, const OperatorOptions& options, const Clock& clock) {
  const auto connections = runtime::make_runtime_connections();
  const sample_job::Options wanted{
      .ns = options.ns,
      .engines = engines(options.one_machine),
      .polls = runtime::http_runtime_polls(connections, sample_set::kRuntimeCallTimeout),
      .sends = runtime::http_runtime_sends(connections, engine::kSampleJobCallTimeout)};
  return manager.add({.name = sample_job::kControllerName,
                      .lease = sample_job::kLeaseName,
                      .workers = options.workers},
                     [&](const ControllerContext& around) {
                       return sample_job::make_reconciler(around, wanted, clock);
                     });
}

}  // namespace

Result<> add_controllers(Manager& manager, const OperatorOptions& options, const Clock& clock) {
  for (const std::string& name : options.controllers) {
    if (name == "paddlejob") {
      CHECK_DONE(add_paddle_jobs(manager, options, clock));
    } else if (name == "sampleset") {
      CHECK_DONE(add_sample_sets(manager, options, clock));
    } else if (name == "samplejob") {
      CHECK_DONE(add_sample_jobs(manager, options, clock));
    } else {
      return Error{Code::kInvalid, "there is no controller '" + name +
                                       "'; there are paddlejob, sampleset and samplejob"};
    }
  }
  return Done{};
}

}  // namespace paddle::controllers
