// SPDX-License-Identifier: Apache-2.0
//
// The lifecycle of namespaces within a transaction: a create requires the namespace; deleting it
// deletes its objects; it is removed with the last of them.

#pragma once

#include <array>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/cluster.h"
#include "kube/rules/garbage_collector.h"
#include "local/api_server/transaction.h"

namespace paddle::local {

// Created at the first start; cannot be deleted.
inline constexpr std::array<const char*, 3> kDefaultNamespaces{"default", "kube-system",
                                                               "kube-public"};

// kNotFound if it does not exist, kForbidden if it is terminating.
Result<> check_namespace(const Transaction& transaction, const std::string& name);

Result<> delete_namespace(Transaction& transaction, const std::string& name,
                          const kube::DeleteOptions& options, WallTime now);

// Removes terminating namespaces whose last object this transaction has erased.
Result<> finish_namespaces(Transaction& transaction);

}  // namespace paddle::local
