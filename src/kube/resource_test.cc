// SPDX-License-Identifier: Apache-2.0
#include "kube/resource.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

TEST(ResourcePath, CoreAndGroupsHaveDifferentRoots) {
  EXPECT_EQ(path_of(resources::kPods, {"a", "b"}), "/api/v1/namespaces/a/pods/b");
  EXPECT_EQ(path_of(resources::kPaddleJobs, {"a", "b"}, "status"),
            "/apis/batch.paddlepaddle.org/v1/namespaces/a/paddlejobs/b/status");
}

TEST(ResourcePath, WithoutANamespaceAddressesAllNamespaces) {
  EXPECT_EQ(path_of(resources::kPods, {}), "/api/v1/pods");
  EXPECT_EQ(path_of(resources::kPods, {"a", ""}), "/api/v1/namespaces/a/pods");
}

TEST(ResourcePath, ClusterScopedKindsIgnoreTheNamespace) {
  EXPECT_EQ(path_of(resources::kNodes, {"a", "n"}), "/api/v1/nodes/n");
  EXPECT_EQ(path_of(resources::kNamespaces, {"", "n"}), "/api/v1/namespaces/n");
}

TEST(ResourcePath, AHostileNameStaysOneSegment) {
  EXPECT_EQ(path_of(resources::kPods, {"a", "../../secrets"}),
            "/api/v1/namespaces/a/pods/..%2F..%2Fsecrets");
  EXPECT_EQ(path_of(resources::kPods, {"a", ".."}), "/api/v1/namespaces/a/pods/%2E%2E");
}

}  // namespace
}  // namespace paddle::kube
