// SPDX-License-Identifier: Apache-2.0
//
// The promises of kube/cluster.h as tests. Whoever implements Cluster runs them:
//
//   INSTANTIATE_TEST_SUITE_P(Fake, ClusterSuite, testing::Values(SuiteTarget{...}));
//
// and links paddle_kube_cluster_suite. The kinds used exist on every API server (ConfigMaps, Pods,
// Leases); PaddleJobs only where the target says that it serves them. Each test works in its own
// namespace, so one server can serve them all one after the other.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "kube/cluster.h"

namespace paddle::kube {

struct SuiteTarget {
  std::string name{};
  std::function<std::unique_ptr<Cluster>()> make{};
  bool serves_paddle_jobs = false;
  // Waits until the target's garbage collector has made it true; false when it did not.
  std::function<bool(const std::function<bool()>&)> collected =
      [](const std::function<bool()>& gone) { return gone(); };
  // Makes the versions read so far too old; empty when the target can not.
  std::function<void(Cluster&)> compact{};
};

class ClusterSuite : public testing::TestWithParam<SuiteTarget> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Json config_map(const std::string& name, const std::string& value = "1") const;
  Json pod(const std::string& name) const;
  Json paddle_job(const std::string& name, int workers) const;

  // Creates it, or fails the test.
  Json stored(const Resource& resource, const Json& object);
  // "a=1,b=2" of the ConfigMaps that the options select, in the server's order.
  std::string listed(ListOptions options = {});
  // What a watch from `version` shows until it has shown `count` events: "ADDED a=1;...".
  std::string watched(const std::string& version, size_t count, WatchOptions options = {});

  std::unique_ptr<Cluster> cluster_;
  std::string ns_;
};

}  // namespace paddle::kube
