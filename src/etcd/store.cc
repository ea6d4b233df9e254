// SPDX-License-Identifier: Apache-2.0
#include "etcd/store.h"

namespace paddle::etcd {

Error no_key() { return {Code::kInvalid, "a key of etcd must not be empty"}; }
Error no_prefix() { return {Code::kInvalid, "a prefix must not be empty: it means every key"}; }
Error changed(const std::string& key) {
  return {Code::kConflict, "etcd's key " + key + " has been changed by somebody else"};
}

}  // namespace paddle::etcd
