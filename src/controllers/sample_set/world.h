// SPDX-License-Identifier: Apache-2.0
//
// What a decision about one SampleSet rests on: what the informers, our own writes and the runtimes
// themselves say. Values only. Holds credentials: never printed.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/meta.h"
#include "api/core/pod.h"
#include "api/sample_set.h"
#include "engine/manifests.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_set {

// A PersistentVolume or a claim.
struct VolumeSummary {
  api::Meta meta{};
  bool bound = false;
  api::ObjectKey claim{};   // of a volume: the claim that it is for
  std::string claim_uid{};  // as well, once a claim has been bound to it
  bool operator==(const VolumeSummary&) const = default;
};

struct StatefulSetSummary {
  api::Meta meta{};
  int replicas = 0;
  int ready = 0;
  bool operator==(const StatefulSetSummary&) const = default;
};

// The Secret with credentials that the spec names.
struct SecretSummary {
  bool exists = false;
  std::string version{};  // "<uid>/<resourceVersion>"
  engine::Credentials values{};
  bool operator==(const SecretSummary&) const = default;
};

struct NodeSummary {
  api::Meta meta{};
  bool ready = true;
  std::optional<WallTime> unready_since{};
  bool operator==(const NodeSummary&) const = default;
};

// What the runtime of one partition answered.
struct RuntimeReport {
  int partition = 0;
  std::string error{};  // why it could not be asked
  // Since it was heard of last, or since we have begun to ask; 0: it has just answered.
  std::chrono::seconds unreachable_for{};
  std::optional<runtime::StatusReport> status{};
  std::optional<runtime::JobReport> sync{};    // of the id in jobsName.syncJobName
  std::optional<runtime::JobReport> part{};    // of its id in status.sync
  std::optional<runtime::JobReport> warmup{};  // of the id in jobsName.warmupJobName
  bool operator==(const RuntimeReport&) const = default;
};

// An unfinished PaddleJob that refers to the set.
struct User {
  std::string name{};
  std::string uid{};
  bool operator==(const User&) const = default;
};

// CSI drivers of the cluster, and of the nodes that hold runtimes of the set.
struct CsiDriverSummary {
  std::set<std::string> installed{};
  std::map<std::string, std::set<std::string>> on_node{};
  bool operator==(const CsiDriverSummary&) const = default;
};

// The server would not have one of our objects: a quota, a policy, a right that is missing.
struct Rejection {
  std::string reason{};  // ErrorCreatePV
  std::string message{};
  bool operator==(const Rejection&) const = default;
};

struct World {
  std::optional<api::Meta> token{};        // Secret <set>-runtime
  std::optional<api::Meta> credentials{};  // Secret <set>-volume
  std::optional<api::Meta> policy{};
  std::optional<VolumeSummary> volume{};
  std::optional<VolumeSummary> claim{};
  std::optional<api::Meta> service{};
  std::optional<StatefulSetSummary> runtimes{};
  std::optional<api::Pod> preparation{};
  std::vector<api::Pod> pods{};                  // with the set's label, in its namespace
  std::vector<RuntimeReport> runtime_reports{};  // of those that run
  std::optional<SecretSummary> secret{};         // nothing: the spec names none
  bool source_secret_missing = false;            // the other one, of spec.source
  std::string secret_versions{};                 // versions of the Secrets that runtimes read
  std::optional<CsiDriverSummary> drivers{};     // nothing: not needed, or not known yet
  bool supports_policies = false;                // the cluster knows them, and we see them
  // Nodes that carry one of the set's labels, or on which a runtime is: label -> value.
  std::map<std::string, std::map<std::string, std::string>> node_labels{};
  std::map<std::string, NodeSummary>
      runtime_nodes{};         // of the runtimes; one that is gone is not here
  bool any_node_ready = true;  // any of the cluster's
  std::vector<User> users{};
  bool has_namesake = false;  // a set of the same name in another namespace
  std::vector<std::string>
      volume_sharers{};          // sets that sync into the same place of the same volume
  bool deletion_forced = false;  // ends although somebody uses it
  bool replaced = false;         // deleted, and another set has its name and namespace by now
  // Of this pass: the first object that could not be made; what was refused in the same way of what
  // is done to objects that are there; and jobs (partition, id) that no runtime could be told to
  // end.
  std::optional<Rejection> rejected_creation{};
  std::vector<std::string> rejected_writes{};
  std::set<std::pair<int, std::string>> uncancelled_jobs{};
};

}  // namespace paddle::controllers::sample_set
