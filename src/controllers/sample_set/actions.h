// SPDX-License-Identifier: Apache-2.0
//
// What may be done for a SampleSet, as values. Each may be executed out twice. Some hold
// credentials: never printed.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/json/json.h"
#include "api/sample_set.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_set {

enum class OwnedKind {
  kToken,
  kCredentials,
  kVolume,
  kClaim,
  kService,
  kPolicy,
  kPreparation,
  kRuntimes
};

// That of older operators.
struct RemoveFinalizer {
  bool operator==(const RemoveFinalizer&) const = default;
};
// The token itself is made by whoever carries this out: it is nobody else's to know.
struct CreateObject {
  OwnedKind kind{};
  api::Opaque object{};
  bool operator==(const CreateObject&) const = default;
};
struct DeleteObject {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // without waiting for a kubelet that nobody hears of
  bool operator==(const DeleteObject&) const = default;
};
// Whoever owns a child keeps it alive.
struct SetOwners {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::vector<api::OwnerReference> owners{};
  bool operator==(const SetOwners&) const = default;
};
// Of the copy of the user's credentials: all of its data, and where it is from.
struct UpdateCredentials {
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
// It was bound to a claim that is gone, and may be bound to the one of that name that is there now.
// Only in the version that was looked at: it may have been bound since.
struct ClearClaimUid {
  api::ObjectKey key{};
  std::string uid{};
  std::string resource_version{};
  bool operator==(const ClearClaimUid&) const = default;
};
// Another token and other certificates for the runtimes; the present token stays good for a while.
struct RenewToken {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const RenewToken&) const = default;
};
// Another number of runtimes, another template for those to come, or the whole spec of the
// NetworkPolicy; what others have written beside stays. RFC 6902 operations: a merge would keep
// every key of a template or a spec that is not wanted any more. Only in the version that was
// looked at: an object that is gone or has changed since is for the next pass to see.
struct PatchObject {
  OwnedKind kind{};
  api::ObjectKey key{};
  std::string uid{};
  std::string resource_version{};
  api::Opaque operations{};
  bool operator==(const PatchObject&) const = default;
};
// Its successor follows the present template.
struct ReplaceRuntime {
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // without waiting for a kubelet that nobody hears of
  bool operator==(const ReplaceRuntime&) const = default;
};
// Of another version of the keys of its source, in its annotations (fresh_keys.h).
struct AnnotatePodSecrets {
  api::ObjectKey pod{};
  std::string uid{};
  std::string value{};
  bool operator==(const AnnotatePodSecrets&) const = default;
};
struct PutJob {
  int partition = 0;
  std::string id{};
  runtime::JobRequest request{};
  bool operator==(const PutJob&) const = default;
};
struct CancelJob {
  int partition = 0;
  std::string id{};
  bool operator==(const CancelJob&) const = default;
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

using Action =
    std::variant<RemoveFinalizer, CreateObject, DeleteObject, SetOwners, UpdateCredentials,
                 Annotate, ClearClaimUid, RenewToken, PatchObject, ReplaceRuntime,
                 AnnotatePodSecrets, PutJob, CancelJob, LabelNode, SetStatus, Tell>;

struct Plan {
  std::vector<Action> actions{};
  // Even if nothing is heard of until then.
  std::optional<std::chrono::nanoseconds> requeue_after{};
  bool operator==(const Plan&) const = default;
};

}  // namespace paddle::controllers::sample_set
