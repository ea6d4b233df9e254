// SPDX-License-Identifier: Apache-2.0
//
// The part of an apps/v1 StatefulSet that one machine supports, decoded into values. Pure.

#pragma once

#include <string>

#include "api/core/meta.h"
#include "api/core/pod.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

struct StatefulSetStatus {
  int replicas = 0;
  int ready = 0;
  int current = 0;  // pods of the present template
  std::int64_t observed_generation = 0;
  std::string revision{};
  bool operator==(const StatefulSetStatus&) const = default;
};

struct StatefulSet {
  api::Meta meta{};
  int replicas = 1;
  std::string service{};
  bool parallel = false;   // podManagementPolicy: Parallel
  bool on_delete = false;  // updateStrategy: OnDelete
  api::Opaque pod_template{};
  StatefulSetStatus status{};
  bool operator==(const StatefulSet&) const = default;
};
// kInvalid for volumeClaimTemplates, which one machine does not support.
Result<StatefulSet> decode_stateful_set(const api::Json& object);

struct MemberPod {
  api::Pod pod{};
  std::string revision{};
  bool operator==(const MemberPod&) const = default;
};
Result<MemberPod> decode_member_pod(const api::Json& object);

// Identifies the template: pods of another revision are replaced.
std::string revision_of(const StatefulSet& set);
std::string member_name(const StatefulSet& set, int index);
// The pod to create.
api::Json member_pod(const StatefulSet& set, int index);

inline constexpr const char* kRevisionLabel = "controller-revision-hash";
inline constexpr const char* kPodNameLabel = "statefulset.kubernetes.io/pod-name";
inline constexpr const char* kPodIndexLabel = "apps.kubernetes.io/pod-index";

}  // namespace paddle::local
