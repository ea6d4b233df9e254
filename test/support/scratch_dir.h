// SPDX-License-Identifier: Apache-2.0
//
// A private directory for one test, removed at the end even when the test process is killed.
//
//   const ScratchDir scratch;
//   write_file(scratch.path() + "/kubeconfig", text);

#pragma once

#include <memory>
#include <string>

#include "test/support/keeper.h"

namespace paddle::test {

class ScratchDir {
 public:
  ScratchDir();  // aborts with the reason when there is no directory
  const std::string& path() const { return keeper_->directory(); }
  Keeper& keeper() const { return *keeper_; }

 private:
  std::unique_ptr<Keeper> keeper_;
};

}  // namespace paddle::test
