// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one SampleJob, decided from values alone.
//
//   desired(job, world, now) -> Plan
//
//   ""  ->  Pending (waits: the condition says for what)  ->  Running  ->  Succeeded | Failed
//
// Properties the tests hold it to:
//   - a converged world yields no action;
//   - the id is in the status before any runtime hears of it, and never used for anything else;
//   - what is said to have succeeded is never asked for again;
//   - nothing is asked for while the set, its runtimes or the Secret are missing: it goes on by
//     itself when they come. Without a runtime no job succeeds.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/sample_job.h"
#include "base/clock.h"
#include "controllers/sample_job/world.h"

namespace paddle::controllers::sample_job {

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
// All parts of a sync that several runtimes share have been done: the first one counts it. Unless
// it could be told, nothing that comes after it in a plan is carried out.
struct MarkSyncComplete {
  std::string id{};
  bool operator==(const MarkSyncComplete&) const = default;
};
struct SetStatus {
  api::SampleJobStatus status{};
  bool operator==(const SetStatus&) const = default;
};
// Its time after the end is over.
struct DeleteJob {
  bool operator==(const DeleteJob&) const = default;
};
// Of a schedule.
struct CreateRun {
  api::SampleJob run{};
  bool operator==(const CreateRun&) const = default;
};
struct DeleteRun {
  api::ObjectKey key{};
  std::string uid{};
  bool operator==(const DeleteRun&) const = default;
};
struct RemoveFinalizer {  // that of older operators
  bool operator==(const RemoveFinalizer&) const = default;
};
struct EmitEvent {
  bool warning = false;
  std::string reason{};
  std::string message{};
  bool operator==(const EmitEvent&) const = default;
};
using Action = std::variant<PutJob, CancelJob, MarkSyncComplete, SetStatus, DeleteJob, CreateRun,
                            DeleteRun, RemoveFinalizer, EmitEvent>;

struct Plan {
  std::vector<Action> actions{};
  std::optional<std::chrono::nanoseconds> requeue_after{};
  bool operator==(const Plan&) const = default;
};

Plan desired(const api::SampleJob& job, const World& world, WallTime now);

bool finished(const std::string& phase);              // Succeeded or Failed
bool begins_again(const api::SampleJob& job);         // it failed, and its spec is another now
std::string finalizer_of(const api::SampleJob& job);  // paddlepaddle.org/samplejob-<name>

// The ids that this job may have given to runtimes begin with this, and no other job's do.
std::string id_prefix(const api::Meta& meta);

}  // namespace paddle::controllers::sample_job
