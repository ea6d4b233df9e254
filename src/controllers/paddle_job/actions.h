// SPDX-License-Identifier: Apache-2.0
//
// What a plan for one PaddleJob is made of. Values: the reconciler carries them out.
//
// Every create has a name that follows from the job, every delete and patch names the uid it means:
// a late or repeated action is harmless.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/clock.h"

namespace paddle::controllers::paddle_job {

enum class OwnedKind { kPod, kService, kConfigMap, kPodGroup };

struct Create {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  api::Opaque manifest{};
  bool operator==(const Create&) const = default;
};
struct Delete {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // without waiting for a kubelet that is not heard of any more
  bool operator==(const Delete&) const = default;
};
// The whole ConfigMap in place of the version that its manifest names.
struct Replace {
  api::ObjectKey key{};
  api::Opaque manifest{};
  bool operator==(const Replace&) const = default;
};
// Lets the pod's coordinator go on.
struct ReleasePod {
  api::ObjectKey key{};
  std::string uid{};
  std::string value{};
  std::string stamp{};
  bool operator==(const ReleasePod&) const = default;
};
struct Patch {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  api::Opaque body{};
  bool json_patch = false;  // RFC 6902; else RFC 7386
  bool operator==(const Patch&) const = default;
};
// Older operators put one on; we need none.
struct DropFinalizer {
  bool operator==(const DropFinalizer&) const = default;
};
// Its time to live has passed.
struct DeleteJob {
  bool operator==(const DeleteJob&) const = default;
};

using Action = std::variant<Create, Delete, Replace, ReleasePod, Patch, DropFinalizer, DeleteJob>;
// May be carried out all at once.
using Wave = std::vector<Action>;

struct Plan {
  // What the status should say, when it says something else.
  std::optional<api::PaddleJobStatus> status{};
  // Nothing may be done before the status is stored; there are no waves then.
  bool status_first = false;
  bool status_is_news = false;    // otherwise it can wait a little
  bool status_gives_way = false;  // news, but to nobody before jobs that wait for their pods
  bool status_remembers = false;  // what only a pod shows, which may go: it waits a moment at most
  std::vector<Wave> waves{};      // one after the other; the status comes after them

  // Look again at this time even if nothing changes.
  std::optional<WallTime> again_at{};

  // Questions. A plan that asks has done nothing yet: it is made again with the answers.
  bool confirm = false;                    // are the pods really not there? (World::confirmed)
  std::set<std::string> nodes_to_check{};  // nodes (World::nodes)

  bool clean_etcd = false;  // elastic, nobody trains yet: first what others left there has to go
  bool keep_np = false;     // elastic: etcd should say how many trainers there are
  bool forget_np = false;   // the job has ended: etcd should say nothing of it

  bool operator==(const Plan&) const = default;
};

}  // namespace paddle::controllers::paddle_job
