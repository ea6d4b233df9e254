// SPDX-License-Identifier: Apache-2.0
//
// Gives the pods of one bridge access to other networks: IPv4 forwarding, and masquerading of the
// bridge's range on every other interface (an nftables table named after the bridge). The
// destructor reverts both; forwarding only when no other bridge of ours is left, because it is a
// setting of the whole machine.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace paddle::local {

class Gateway {
 public:
  // `range` as in "10.70.0.0/16". Replaces what an earlier process of the same bridge left.
  static Result<std::unique_ptr<Gateway>> open(const std::string& bridge, const std::string& range);
  ~Gateway();

 private:
  explicit Gateway(std::string bridge) : bridge_(std::move(bridge)) {}
  const std::string bridge_;  // also the name of the table
};

}  // namespace paddle::local
