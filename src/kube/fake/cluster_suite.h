// SPDX-License-Identifier: Apache-2.0
//
// The contract of kube/cluster.h as tests. Each implementation of Cluster runs them:
//
//   INSTANTIATE_TEST_SUITE_P(Fake, ClusterSuite, testing::Values(SuiteTarget{...}));
//
// and links paddle_kube_cluster_suite. The kinds that are used exist on every API server
// (ConfigMaps, Pods, Leases); PaddleJobs are used only where the target serves them. Each test
// works in a namespace of its own, so that one server can run them all in sequence.

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
  // Waits until the condition is true because of the target's garbage collector; false when it is
  // not.
  std::function<bool(const std::function<bool()>&)> collected =
      [](const std::function<bool()>& gone) { return gone(); };
  // Makes the versions read so far too old; empty when the target cannot do that.
  std::function<void(Cluster&)> compact{};
};

class ClusterSuite : public testing::TestWithParam<SuiteTarget> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Json config_map(const std::string& name, const std::string& value = "1") const;
  Json pod(const std::string& name) const;
  Json paddle_job(const std::string& name, int workers) const;

  // Creates the object, or fails the test.
  Json stored(const Resource& resource, const Json& object);
  // "a=1,b=2" of the ConfigMaps that the options select, in the server's order.
  std::string listed(ListOptions options = {});
  // The first `count` events of a watch from `version`: "ADDED a=1;...".
  std::string watched(const std::string& version, size_t count, WatchOptions options = {});

  std::unique_ptr<Cluster> cluster_;
  std::string ns_;
};

}  // namespace paddle::kube
