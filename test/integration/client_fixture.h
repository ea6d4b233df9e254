// SPDX-License-Identifier: Apache-2.0
//
// One control plane for all tests of the client in this program, and helpers to use it.

#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/client/client.h"
#include "test/support/control_plane.h"

namespace paddle::test {

using kube::Json;

// Started on first use, stopped at the end of the program; null when it could not be started.
ControlPlane* shared_control_plane();

class ClientTest : public testing::Test {
 protected:
  void SetUp() override;

  kube::Config config() const;  // admin's, by token
  kube::Client client() const { return kube::Client(config()); }
  Json config_map(const std::string& name, const std::string& value = "1") const;

  ControlPlane* plane_ = nullptr;
  std::string ns_;  // its own, fresh
};

template <typename T>
std::string why(const Result<T>& result) {
  return result ? "done" : std::string(name(result.error().code)) + ": " + result.error().message;
}

}  // namespace paddle::test
