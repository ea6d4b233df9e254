// SPDX-License-Identifier: Apache-2.0
//
// The kinds of jobs that the runtimes of a SampleSet run: the one description of each. Pure.
//
// From it follow the values of SampleJob's spec.type and its CRD, the runtime protocol, the queues
// and threads of a runtime, and, by a test, the tables in docs/*/samplejob.md. To add a kind, add
// an enumerator and its case in info_of(); the compiler then names every switch that lacks it.

#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/result.h"

namespace paddle::api {

enum class JobKind {
  kSync,    // brings files from a source into the set
  kWarmup,  // brings files of the set into the caches
  kRemove,  // removes files from the set until a later sync brings them again
  kClear,   // drops files from the caches; they stay in the set
  kVerify,  // compares what is cached with the source
};

struct JobKindInfo {
  const char* name = nullptr;  // spec.type, and `kind` in the runtime protocol
  // Changes which files the set has, not only what is cached. Runtimes that share one volume do it
  // once for all of them, and an engine may want such jobs one after another.
  bool changes_set = false;
};

constexpr JobKindInfo info_of(JobKind kind) {
  switch (kind) {
    case JobKind::kSync:
      return {.name = "sync", .changes_set = true};
    case JobKind::kWarmup:
      return {.name = "warmup"};
    case JobKind::kRemove:
      return {.name = "rmr", .changes_set = true};
    case JobKind::kClear:
      return {.name = "clear"};
    case JobKind::kVerify:
      return {.name = "verify"};
  }
  return {};  // not a kind
}

inline constexpr std::size_t kJobKindCount = [] {
  std::size_t count = 0;
  while (info_of(static_cast<JobKind>(count)).name) ++count;
  return count;
}();

// All kinds, and their names, in the order of the enumerators.
inline constexpr std::array<JobKind, kJobKindCount> kJobKinds = [] {
  std::array<JobKind, kJobKindCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<JobKind>(i);
  return all;
}();
inline constexpr std::array<const char*, kJobKindCount> kJobKindNames = [] {
  std::array<const char*, kJobKindCount> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = info_of(kJobKinds[i]).name;
  return all;
}();

std::string to_string(JobKind kind);
// kInvalid: "one of sync, warmup, ...".
Result<JobKind> parse_job_kind(const std::string& text);

}  // namespace paddle::api
