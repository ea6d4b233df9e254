// SPDX-License-Identifier: Apache-2.0
//
// The contract of etcd/store.h as tests. Each implementation of Store runs them:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite, testing::Values(StoreTarget{...}));
//
// and links paddle_etcd_store_suite. Each test works under keys of its own.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "etcd/store.h"

namespace paddle::etcd {

struct StoreTarget {
  std::string name{};
  std::function<std::shared_ptr<Store>()> make{};
};

class StoreSuite : public testing::TestWithParam<StoreTarget> {
 protected:
  void SetUp() override;
  std::string key(const std::string& rest = {}) const { return root_ + rest; }
  // The value, or "(none)"; fails the test when it cannot be read.
  std::string value_of(const std::string& at);
  std::int64_t revision_of(const std::string& at);
  // "key=value,..." below the prefix, without this test's root.
  std::string listed(const std::string& prefix);

  std::shared_ptr<Store> store_;
  std::string root_;
};

}  // namespace paddle::etcd
