// SPDX-License-Identifier: Apache-2.0
//
// Whether the API server would accept an object: the schema and the rules of the CRD, applied here.
// For tests, for `paddlectl`, and for the embedded API server. Never throws for any JSON; a problem
// is one sentence with the path of the field.
//
// Follows the server step by step: unknown fields are refused (or dropped), meaningless nulls are
// dropped, status is dropped on create and taken from the old object on update, defaults are filled
// in, the structure is checked, the rules are evaluated. On an update, unchanged fields are not
// validated again (ratcheting), except by rules that compare with the old object. Not covered: the
// server's own checks of labels, annotations, owners and other metadata.

#pragma once

#include <string>
#include <vector>

#include "api/crd/describe.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::api {

struct Problem {
  std::string path{};
  std::string message{};
  bool operator==(const Problem&) const = default;
};

struct Write {
  const Json* old = nullptr;  // null: a create
  bool status = false;        // through the status subresource: only status counts
  bool strict = true;         // as kubectl requests it; otherwise unknown fields are dropped
};

// Empty when the object is valid. Structural problems hide rule problems, as at the server.
std::vector<Problem> validate(Kind kind, const Json& object, const Write& write = {});

// The object as the server would store it: nulls and unknown fields dropped, defaults filled in.
Json normalized(Kind kind, Json object);

// "spec.worker.replicas: must not be less than 0" of the first problem; Done when there is none.
Result<> first_of(const std::vector<Problem>& problems);

}  // namespace paddle::api
