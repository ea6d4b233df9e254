// SPDX-License-Identifier: Apache-2.0
//
// Descriptions (schema/field.h) of the structs in shared.h. Included by the .cc files of the
// resources.

#pragma once

#include <string>
#include <utility>

#include "api/schema/expr.h"
#include "api/schema/field.h"
#include "api/shared.h"

namespace paddle::api {

// Maximum length of an object name, and of a path in Linux.
inline constexpr int kMaxName = 253;
inline constexpr int kMaxPath = 4096;

// A rule that is enforced when the object is created (the server drops status then) and no longer
// once a controller has written status: an object that is older than the rule can still be updated
// and deleted.
inline Rule at_creation(Expr rule, std::string message) {
  return {either({has(self("status")), std::move(rule)}), std::move(message)};
}

template <typename Visit>
void fields(Visit& visit, As<Condition> auto& c) {
  static constexpr const char* kStatuses[] = {"True", "False", "Unknown"};
  visit("type", c.type,
        {.doc = "What the condition is about.", .max_length = 316, .required = true});
  visit("status", c.status,
        {.doc = "True, False or Unknown.", .one_of = kStatuses, .required = true});
  visit("reason", c.reason, {.doc = "A word for programs.", .max_length = 1024});
  visit("message", c.message, {.doc = "A sentence for users.", .max_length = 32768});
  visit("lastTransitionTime", c.last_transition, {.doc = "When the status last changed."});
  visit("observedGeneration", c.observed_generation,
        {.doc = "The metadata.generation that this condition describes.", .min = 0});
}

template <typename Visit>
void fields(Visit& visit, As<ObjectReference> auto& r) {
  visit("apiVersion", r.api_version, {});
  visit("kind", r.kind, {});
  visit("namespace", r.ns, {});
  visit("name", r.name, {});
  visit("uid", r.uid, {});
  visit("resourceVersion", r.resource_version, {});
  visit("fieldPath", r.field_path, {});
}

template <typename Visit>
void fields(Visit& visit, As<SecretReference> auto& r) {
  visit("name", r.name, {.doc = "Name of the Secret.", .max_length = kMaxName});
  visit("namespace", r.ns,
        {.doc = "Namespace of the Secret; only the object's own works.", .max_length = 63});
}

// The keys are siblings of others in the struct that has the strategy, as in the YAML of the Go
// operator.
template <typename Visit>
void strategy_fields(Visit& visit, As<Strategy> auto& s) {
  visit("strategyName", s.name,
        {.doc = "Order of the files: sequence, random or distributedBatch, as Paddle's samplers. "
                "sequence when absent.",
         .one_of = kStrategies});
  visit("batchSize", s.batch_size, {.doc = "Batch size of the sampler.", .min = 1});
  visit("ranks", s.ranks, {.doc = "Number of trainers; the partitions when absent.", .min = 1});
  visit("seed", s.seed, {.doc = "Seed of the shuffle; the epoch when absent.", .min = 0});
  visit("epoch", s.epoch, {.doc = "Epoch whose order is wanted; 0 when absent.", .min = 0});
  visit("shuffle", s.shuffle, {.doc = "Shuffle as DistributedBatchSampler(shuffle=True) does."});
  visit("dropLast", s.drop_last, {.doc = "Drop the last incomplete batch."});
}

template <typename Visit>
void fields(Visit& visit, As<Work> auto& w) {
  visit("filesTotal", w.files_total, {});
  visit("filesDone", w.files_done, {});
  visit("filesFailed", w.files_failed, {});
  visit("bytesTotal", w.bytes_total, {});
  visit("bytesDone", w.bytes_done, {});
  visit("bytesPerSecond", w.bytes_per_second, {});
  visit("etaSeconds", w.eta_seconds, {});
}

template <typename Visit>
void fields(Visit& visit, As<FoundProblem> auto& p) {
  visit("path", p.path, {.doc = "Of the sample; a long or unprintable one is shortened."});
  visit("problem", p.problem, {.doc = "corrupt, stale or missing."});
  visit("repaired", p.repaired, {});
}

template <typename Visit>
void fields(Visit& visit, As<Verification> auto& v) {
  visit("checked", v.checked, {.doc = "Samples that were checked."});
  visit("compared", v.compared,
        {.doc = "Of these, compared with the source's digest; the others with the checksums that "
                "were taken when they were downloaded."});
  visit("missing", v.missing, {.doc = "Not cached, or in part."});
  visit("stale", v.stale, {.doc = "The source has another version now, or none."});
  visit("corrupt", v.corrupt, {.doc = "Cached bytes were not those of the source."});
  visit("repaired", v.repaired, {.doc = "Missing or corrupt, and fetched again."});
  visit("firstProblems", v.first_problems, {.doc = "The first 20, the worst first."});
}

template <typename Visit>
void fields(Visit& visit, As<JobPartition> auto& p) {
  visit("index", p.index, {.required = true, .always = true});
  visit("id", p.id, {.doc = "Id of this partition's work at its runtime."});
  visit("node", p.node, {});
  visit("state", p.state, {});
  visit("message", p.message, {});
  visit("cut", p.cut, {.doc = "The division of the sync that this part belongs to."});
  visit("work", p.work, {});
  visit("verification", p.verification, {.doc = "What a verification has found."});
  visit("stalledSince", p.stalled_since,
        {.doc = "Since when its runtime is away, or it has failed."});
}

}  // namespace paddle::api
