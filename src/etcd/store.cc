// SPDX-License-Identifier: Apache-2.0
#include "etcd/store.h"

namespace paddle::etcd {

Error no_key() { return {Code::kInvalid, "an etcd key must not be empty"}; }
Error no_prefix() { return {Code::kInvalid, "a prefix must not be empty: it means every key"}; }
Error changed(const std::string& key) {
  return {Code::kConflict, "the etcd key " + key + " was changed by another client"};
}

}  // namespace paddle::etcd
