// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one SampleSet, decided from values alone.
//
//   desired(set, world, setting, now) -> Plan
//
// Properties the tests hold it to:
//   - a converged world yields no action;
//   - ids of jobs are stored in the status before any runtime hears of them;
//   - nothing that does not carry this set's uid is changed or deleted;
//   - nothing holds a set up that is deleted: what is left of it ends as deletion.h says;
//   - a set that is deleted keeps its volume while a PaddleJob uses it.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_sets {

enum class ChildKind { kToken, kVolume, kClaim, kService, kRuntimes };

// That of older operators.
struct DropFinalizer {
  bool operator==(const DropFinalizer&) const = default;
};
// The token itself is made by whoever carries this out: it is nobody else's to know.
struct CreateChild {
  ChildKind kind{};
  api::Opaque object{};
  bool operator==(const CreateChild&) const = default;
};
struct DeleteChild {
  ChildKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const DeleteChild&) const = default;
};
// Whoever owns a child keeps it alive.
struct SetOwners {
  ChildKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::vector<api::OwnerReference> owners{};
  bool operator==(const SetOwners&) const = default;
};
// Another number of runtimes, or another template for those to come.
struct PatchRuntimes {
  std::string uid{};
  api::Opaque patch{};
  bool operator==(const PatchRuntimes&) const = default;
};
// Its successor follows the present template.
struct ReplaceRuntime {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const ReplaceRuntime&) const = default;
};
struct PutJob {
  int partition = 0;
  std::string id{};
  runtime::JobRequest request{};
  bool operator==(const PutJob&) const = default;
};
// An empty value removes the label.
struct LabelNode {
  std::string node{};
  std::string label{};
  std::string value{};
  bool operator==(const LabelNode&) const = default;
};
struct SetStatus {
  api::SampleSetStatus status{};
  bool operator==(const SetStatus&) const = default;
};
struct Tell {
  bool warning = false;
  std::string reason{};
  std::string message{};
  bool operator==(const Tell&) const = default;
};

using Action = std::variant<DropFinalizer, CreateChild, DeleteChild, SetOwners, PatchRuntimes,
                            ReplaceRuntime, PutJob, LabelNode, SetStatus, Tell>;

struct Plan {
  std::vector<Action> actions{};
  // Even if nothing is heard of until then.
  std::optional<std::chrono::nanoseconds> again_after{};
  bool operator==(const Plan&) const = default;
};

struct Setting {
  engine::OperatorFaces engines{};
  engine::RuntimeOptions runtime{};
};

Plan desired(const api::SampleSet& set, const World& world, const Setting& setting, WallTime now);

}  // namespace paddle::controllers::sample_sets
