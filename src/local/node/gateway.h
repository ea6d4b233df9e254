// SPDX-License-Identifier: Apache-2.0
//
// Lets the pods of one bridge reach what lies outside this machine: IPv4 forwarding, and
// masquerading of the bridge's range towards every other interface (an nftables table named after
// the bridge). The destructor takes both back; forwarding only when no other bridge of ours is
// left, since it is the machine's and not ours alone.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace paddle::local {

class Gateway {
 public:
  // `range` as in "10.70.0.0/16". What an earlier process of the same bridge left is replaced.
  static Result<std::unique_ptr<Gateway>> open(const std::string& bridge, const std::string& range);
  ~Gateway();

 private:
  explicit Gateway(std::string bridge) : bridge_(std::move(bridge)) {}
  const std::string bridge_;  // of the table, too
};

}  // namespace paddle::local
