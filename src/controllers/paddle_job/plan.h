// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one PaddleJob, decided from values alone.
//
//   desired(job, world, now) -> Plan
//
// No client, no clock, no log: everything the decision rests on is an argument, and the decision
// itself is data. The reconciler reads the world, asks for a plan, carries it out.
//
// Properties the tests hold it to:
//   - a converged world yields an empty plan;
//   - carrying a plan out and asking again yields an empty plan;
//   - the order of world.pods does not change the plan;
//   - a finished job never creates anything; a deleted one does nothing.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/paddle_job.h"
#include "api/pod.h"
#include "api/sample_set.h"

namespace paddle::controllers {

struct RendezvousMap {
  api::Meta meta{};
  std::map<std::string, std::string> data{};
  bool operator==(const RendezvousMap&) const = default;
};

// Everything this job owns or rests on, as last seen by the informers and by our own writes.
struct World {
  std::vector<api::Pod> pods{};                // controlled by this job's uid
  std::optional<RendezvousMap> rendezvous{};   // controlled by this job's uid
  std::optional<api::SampleSet> sample_set{};  // the one it refers to, when it is there
};

struct CreatePod {
  api::ObjectKey key{};
  api::Opaque pod{};
  bool operator==(const CreatePod&) const = default;
};
// Carries the uid so that a namesake created meanwhile is never deleted.
struct DeletePod {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const DeletePod&) const = default;
};
// Creates it, or replaces the version given.
struct PutRendezvous {
  std::map<std::string, std::string> data{};
  std::string replaces{};  // resourceVersion of the one there is; empty: none
  bool operator==(const PutRendezvous&) const = default;
};
// Lets the pod's coordinator go on. Comes after PutRendezvous in the same plan.
struct ReleasePod {
  api::ObjectKey key{};
  std::string uid{};
  std::string value{};
  bool operator==(const ReleasePod&) const = default;
};
struct SetStatus {
  api::PaddleJobStatus status{};
  bool operator==(const SetStatus&) const = default;
};
// Older operators put one on; we need none.
struct DropFinalizer {
  bool operator==(const DropFinalizer&) const = default;
};

using Action =
    std::variant<CreatePod, DeletePod, PutRendezvous, ReleasePod, SetStatus, DropFinalizer>;
using Plan = std::vector<Action>;

Plan desired(const api::PaddleJob& job, const World& world, WallTime now);

}  // namespace paddle::controllers
