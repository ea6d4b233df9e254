// SPDX-License-Identifier: Apache-2.0
//
// The pods that belong to an object, directly or through a StatefulSet of its own.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "cli/session.h"

namespace paddle::cli {

struct OwnedPod {
  kube::ObjectKey key{};
  std::string uid{};
  std::string phase{};
  std::string ip{};
};

// Sorted by name. `object` is as the server returned it.
Result<std::vector<OwnedPod>> pods_of(Session& session, const api::Json& object);

}  // namespace paddle::cli
