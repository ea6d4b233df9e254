// SPDX-License-Identifier: Apache-2.0
//
// The life of a namespace inside a transaction: it must be there for a create, takes its objects
// with it when it is deleted, and goes when the last of them has gone.

#pragma once

#include <array>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/cluster.h"
#include "kube/rules/garbage_collector.h"
#include "local/api_server/transaction.h"

namespace paddle::local {

// Made at the first start; can not be deleted.
inline constexpr std::array<const char*, 3> kDefaultNamespaces{"default", "kube-system",
                                                               "kube-public"};

// kNotFound when it is not there, kForbidden when it is on its way out.
Result<> check_namespace(const Transaction& transaction, const std::string& name);

Result<> delete_namespace(Transaction& transaction, const std::string& name,
                          const kube::DeleteOptions& options, WallTime now);

// Removes namespaces that were waiting for what this transaction has erased.
Result<> finish_namespaces(Transaction& transaction);

}  // namespace paddle::local
