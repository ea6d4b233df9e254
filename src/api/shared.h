// SPDX-License-Identifier: Apache-2.0
//
// The small structs that more than one resource uses. Every struct of a resource has a member
// `rest`: unknown keys and spellings that survive a round trip (codec.h).

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "base/clock.h"

namespace paddle::api {

// metav1.Condition.
struct Condition {
  std::string type{};
  std::string status{};  // "True", "False" or "Unknown"
  std::string reason{};
  std::string message{};
  std::optional<WallTime> last_transition{};
  std::int64_t observed_generation = 0;
  Opaque rest{};
  bool operator==(const Condition&) const = default;
};
using Conditions = std::vector<Condition>;

const Condition* find_condition(const Conditions& conditions, std::string_view type);
// Adds or replaces the condition of this type. last_transition becomes `now` when the status
// differs from what was there and is kept otherwise. Returns true when anything changed.
bool set_condition(Conditions& conditions, Condition wanted, WallTime now);

struct ObjectReference {
  std::string api_version{};
  std::string kind{};
  std::string ns{};
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  std::string field_path{};
  Opaque rest{};
  bool operator==(const ObjectReference&) const = default;
};

struct SecretReference {
  std::string name{};
  std::string ns{};  // empty: the object's own namespace
  Opaque rest{};
  bool operator==(const SecretReference&) const = default;
};

// Which files warm up first and on which partition: the order of Paddle's samplers.
inline constexpr const char* kStrategies[] = {"sequence", "random", "distributedBatch"};

struct Strategy {
  std::string name{};  // one of kStrategies; empty means sequence
  std::optional<std::int64_t> batch_size{};
  std::optional<std::int64_t> ranks{};
  std::optional<std::int64_t> seed{};
  std::optional<std::int64_t> epoch{};
  std::optional<bool> shuffle{};
  std::optional<bool> drop_last{};
  bool operator==(const Strategy&) const = default;
};

}  // namespace paddle::api
