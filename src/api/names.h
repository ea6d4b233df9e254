// SPDX-License-Identifier: Apache-2.0
//
// Patterns and rule fragments that more than one resource uses.

#pragma once

#include "api/schema/expr.h"

namespace paddle::api {

inline constexpr const char* kDns1123 = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
inline constexpr const char* kDns1035 = "^[a-z]([-a-z0-9]*[a-z0-9])?$";

// A segment ".." anywhere in a path, or in a list of paths separated by colons.
inline constexpr const char* kUpwards = "(^|[/:])\\.\\.([/:]|$)";

// Holds when the object is created (the server drops status then) and no longer once a controller
// has written status: an object that is older than the rule can still be updated and deleted.
inline Rule at_birth(Expr rule, std::string message) {
  return {either({has(self("status")), std::move(rule)}), std::move(message)};
}

}  // namespace paddle::api
