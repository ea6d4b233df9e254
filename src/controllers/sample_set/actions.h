// SPDX-License-Identifier: Apache-2.0
//
// The actions of a plan for a SampleSet, as values. Each may be executed twice. Objects that exist
// are named by their uid. Some actions hold credentials: never printed.

#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "api/json/json.h"
#include "api/sample_set.h"
#include "controllers/plan/plan.h"
#include "controllers/runtime_jobs/fanout.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

using runtime_jobs::CancelJob;
using runtime_jobs::PutJob;

// Older operators added a finalizer to sets.
struct RemoveFinalizer {
  bool operator==(const RemoveFinalizer&) const = default;
};
// The executor generates the data of a token Secret: no plan contains it.
struct CreateObject {
  OwnedKind kind{};
  api::Opaque object{};
  bool operator==(const CreateObject&) const = default;
};
struct DeleteObject {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // without a grace period: its kubelet does not answer
  bool operator==(const DeleteObject&) const = default;
};
// The garbage collector keeps an object while one of its owners exists.
struct SetOwners {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::vector<api::OwnerReference> owners{};
  bool operator==(const SetOwners&) const = default;
};
// Replaces all data of a copy of the user's credentials, and adds the annotations.
struct UpdateCredentials {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  api::Opaque data{};
  std::map<std::string, std::string> annotations{};
  bool operator==(const UpdateCredentials&) const = default;
};
// An empty value removes the annotation.
struct Annotate {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::map<std::string, std::string> annotations{};
  bool operator==(const Annotate&) const = default;
};
// Gives a volume to the set's claim with this uid: the claim that it was bound to is gone. Only in
// this resourceVersion, for it may have been bound since.
struct SetClaimUid {
  api::ObjectKey key{};
  std::string uid{};
  std::string resource_version{};
  std::string claim_uid{};
  bool operator==(const SetClaimUid&) const = default;
};
// Generates a new token and new certificates for the runtimes; the previous ones stay valid for a
// while.
struct RenewToken {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const RenewToken&) const = default;
};
// Takes the previous token and authority out of that Secret: all runtimes have the new ones.
struct ForgetPreviousToken {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const ForgetPreviousToken&) const = default;
};
// Changes the replicas or the template of the runtimes, or the spec of the NetworkPolicy; fields of
// others stay. A JSON patch (RFC 6902), because a merge patch would keep what the new template no
// longer has. Only in this resourceVersion: the next pass sees any other.
struct PatchObject {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::string resource_version{};
  api::Opaque operations{};
  bool operator==(const PatchObject&) const = default;
};
// Deletes a runtime's pod; the StatefulSet creates its successor from the current template.
struct ReplaceRuntime {
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // without a grace period: its kubelet does not answer
  bool operator==(const ReplaceRuntime&) const = default;
};
// Makes the kubelet update the mounted Secrets of a runtime's pod now
// (decide/credential_rollout.h).
struct AnnotatePodSecrets {
  api::ObjectKey pod{};
  std::string uid{};
  std::string value{};
  bool operator==(const AnnotatePodSecrets&) const = default;
};
// An empty value removes the label.
struct LabelNode {
  std::string node{};
  std::string label{};
  std::string value{};
  bool operator==(const LabelNode&) const = default;
};

using Action =
    std::variant<RemoveFinalizer, CreateObject, DeleteObject, SetOwners, UpdateCredentials,
                 Annotate, SetClaimUid, RenewToken, ForgetPreviousToken, PatchObject,
                 ReplaceRuntime, AnnotatePodSecrets, PutJob, CancelJob, LabelNode, EmitEvent>;
using Plan = PlanOf<Action, api::SampleSetStatus>;

}  // namespace paddle::controllers::sample_set
