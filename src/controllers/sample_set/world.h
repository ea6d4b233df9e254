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

namespace paddle::controllers::sample_sets {

// A PersistentVolume or a claim.
struct VolumeSeen {
  api::Meta meta{};
  bool bound = false;
  api::ObjectKey claim{};   // of a volume: the claim that it is for
  std::string claim_uid{};  // as well, once a claim has been bound to it
  bool operator==(const VolumeSeen&) const = default;
};

struct StatefulSetSeen {
  api::Meta meta{};
  int replicas = 0;
  int ready = 0;
  bool operator==(const StatefulSetSeen&) const = default;
};

// The Secret with credentials that the spec names.
struct SecretSeen {
  bool exists = false;
  std::string version{};  // "<uid>/<resourceVersion>"
  engine::Credentials values{};
  bool operator==(const SecretSeen&) const = default;
};

struct NodeSeen {
  api::Meta meta{};
  bool ready = true;
  std::optional<WallTime> unready_since{};
  bool operator==(const NodeSeen&) const = default;
};

// What the runtime of one partition answered.
struct RuntimeSeen {
  int partition = 0;
  std::string error{};  // why it could not be asked
  // Since it was heard of last, or since we have begun to ask; 0: it has just answered.
  std::chrono::seconds silent_for{};
  std::optional<runtime::StatusReport> status{};
  std::optional<runtime::JobReport> sync{};    // of the id in jobsName.syncJobName
  std::optional<runtime::JobReport> part{};    // of its id in status.sync
  std::optional<runtime::JobReport> warmup{};  // of the id in jobsName.warmupJobName
  bool operator==(const RuntimeSeen&) const = default;
};

// An unfinished PaddleJob that refers to the set.
struct User {
  std::string name{};
  std::string uid{};
  bool operator==(const User&) const = default;
};

// CSI drivers of the cluster, and of the nodes that hold runtimes of the set.
struct DriversSeen {
  std::set<std::string> installed{};
  std::map<std::string, std::set<std::string>> on_node{};
  bool operator==(const DriversSeen&) const = default;
};

// The server would not have one of our objects: a quota, a policy, a right that is missing.
struct Refusal {
  std::string reason{};  // ErrorCreatePV
  std::string message{};
  bool operator==(const Refusal&) const = default;
};

struct World {
  std::optional<api::Meta> token{};        // Secret <set>-runtime
  std::optional<api::Meta> credentials{};  // Secret <set>-volume
  std::optional<api::Meta> policy{};
  std::optional<VolumeSeen> volume{};
  std::optional<VolumeSeen> claim{};
  std::optional<api::Meta> service{};
  std::optional<StatefulSetSeen> runtimes{};
  std::optional<api::Pod> preparation{};
  std::vector<api::Pod> pods{};          // with the set's label, in its namespace
  std::vector<RuntimeSeen> answers{};    // of those that run
  std::optional<SecretSeen> secret{};    // nothing: the spec names none
  bool source_secret_missing = false;    // the other one, of spec.source
  std::string keys{};                    // versions of the Secrets that runtimes read
  std::optional<DriversSeen> drivers{};  // nothing: not needed, or not known yet
  bool can_have_policies = false;        // the cluster knows them, and we see them
  // Nodes that carry one of the set's labels, or on which a runtime is: label -> value.
  std::map<std::string, std::map<std::string, std::string>> nodes{};
  std::map<std::string, NodeSeen> hosts{};  // of the runtimes; one that is gone is not here
  bool some_node_ready = true;              // any of the cluster's
  std::vector<User> users{};
  bool has_namesake = false;           // a set of the same name in another namespace
  std::vector<std::string> sharers{};  // sets that sync into the same place of the same volume
  bool forced = false;                 // ends although somebody uses it
  bool replaced = false;               // deleted, and another set has its name and namespace by now
  // Of this pass: the first object that could not be made; what was refused in the same way of what
  // is done to objects that are there; and jobs (partition, id) that no runtime could be told to
  // end.
  std::optional<Refusal> refusal{};
  std::vector<std::string> refused{};
  std::set<std::pair<int, std::string>> not_cancelled{};
};

}  // namespace paddle::controllers::sample_sets
