// SPDX-License-Identifier: Apache-2.0
//
// What a decision about one SampleSet rests on: what the informers, our own writes and the runtimes
// themselves say. Values only.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/pod.h"
#include "api/sample_set.h"
#include "runtime/protocol.h"

namespace paddle::controllers::sample_sets {

// A PersistentVolume or a claim.
struct VolumeSeen {
  api::Meta meta{};
  bool bound = false;
  api::ObjectKey claim{};  // of a volume: the claim that it is for
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
  bool has_metaurl = false;
  bool has_bucket = false;  // storage or bucket: meant for JuiceFS
  bool operator==(const SecretSeen&) const = default;
};

// What the runtime of one partition answered.
struct RuntimeSeen {
  int partition = 0;
  std::string error{};  // why it could not be asked
  std::optional<runtime::StatusReport> status{};
  std::optional<runtime::JobReport> sync{};    // of the id in jobsName.syncJobName
  std::optional<runtime::JobReport> warmup{};  // of the id in jobsName.warmupJobName
  bool operator==(const RuntimeSeen&) const = default;
};

// An unfinished PaddleJob that refers to the set.
struct User {
  std::string name{};
  std::string uid{};
  bool operator==(const User&) const = default;
};

struct World {
  std::optional<api::Meta> token{};
  std::optional<VolumeSeen> volume{};
  std::optional<VolumeSeen> claim{};
  std::optional<api::Meta> service{};
  std::optional<StatefulSetSeen> runtimes{};
  std::vector<api::Pod> pods{};        // with the set's label, in its namespace
  std::vector<RuntimeSeen> answers{};  // of those that run
  std::optional<SecretSeen> secret{};  // nothing: the spec names none
  // Nodes that carry one of the set's labels, or on which a runtime is: label -> value.
  std::map<std::string, std::map<std::string, std::string>> nodes{};
  std::vector<User> users{};
  bool has_namesake = false;  // a set of the same name in another namespace
};

}  // namespace paddle::controllers::sample_sets
