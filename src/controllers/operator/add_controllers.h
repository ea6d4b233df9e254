// SPDX-License-Identifier: Apache-2.0
//
// The controllers of this project, added to a manager: the same for `paddle-operator` in a cluster
// and for `paddlectl local` on one machine.

#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controllers/loop/manager.h"

namespace paddle::controllers {

struct OperatorOptions {
  std::vector<std::string> controllers{"paddlejob", "sampleset", "samplejob"};
  std::string ns{};             // empty: all namespaces
  std::string runtime_image{};  // of cache runtimes; needed for SampleSets
  int workers = 4;              // per controller
};

// kInvalid names a controller that there is not.
Result<> add_controllers(Manager& manager, const OperatorOptions& options,
                         const Clock& clock = system_clock());

}  // namespace paddle::controllers
