// SPDX-License-Identifier: Apache-2.0
//
// The part of a coordination.k8s.io/v1 Lease that an election reads and writes. Times that others
// wrote are kept as text and only compared for equality, because clocks of other machines prove
// nothing about ours.

#pragma once

#include <chrono>
#include <string>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"

namespace paddle::kube {

struct LeaseRecord {
  std::string holder{};  // empty: released, or never held
  std::chrono::seconds duration{0};
  std::string acquire_time{};  // MicroTime
  std::string renew_time{};    // MicroTime
  int transitions = 0;
  bool operator==(const LeaseRecord&) const = default;
};

// kInvalid when a field that we use has the wrong type; absent fields are empty.
Result<LeaseRecord> decode_lease(const api::Json& object);

// Writes the record into the object and changes nothing else (resourceVersion, labels, unknown
// fields).
void edit_lease(api::Json& object, const LeaseRecord& record);

// A new object for a create.
api::Json new_lease(const api::ObjectKey& key, const LeaseRecord& record);

}  // namespace paddle::kube
