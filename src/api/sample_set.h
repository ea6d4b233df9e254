// SPDX-License-Identifier: Apache-2.0
//
// SampleSet (batch.paddlepaddle.org/v1alpha1) as a value. The JSON names, limits and meaning of
// each field are in sample_set_fields.h, once. Plain values: copy, compare, share between threads.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/shared.h"
#include "base/result.h"

namespace paddle::api {

struct SampleSource {
  std::string uri{};
  std::optional<SecretReference> secret{};
  Opaque rest{};
  bool operator==(const SampleSource&) const = default;
};

// The mount options of JuiceFS under their own names. All optional: a zero can be meant.
struct JuiceFSMountOptions {
  std::optional<std::string> metrics{};
  std::optional<std::int64_t> attr_cache{};
  std::optional<std::int64_t> entry_cache{};
  std::optional<std::int64_t> dir_entry_cache{};
  std::optional<bool> enable_xattr{};
  std::optional<std::int64_t> get_timeout{};
  std::optional<std::int64_t> put_timeout{};
  std::optional<std::int64_t> io_retries{};
  std::optional<std::int64_t> max_uploads{};
  std::optional<std::int64_t> buffer_size{};
  std::optional<std::int64_t> prefetch{};
  std::optional<bool> writeback{};
  std::optional<std::string> cache_dir{};
  std::optional<std::int64_t> cache_size{};
  std::optional<std::string> free_space_ratio{};
  std::optional<bool> cache_partial_only{};
  std::optional<std::int64_t> open_cache{};
  std::optional<std::string> sub_dir{};
  Opaque rest{};
  bool operator==(const JuiceFSMountOptions&) const = default;
};

struct Csi {
  std::string driver{};  // the engine; empty: decided from the secret
  std::optional<JuiceFSMountOptions> juicefs{};
  Opaque rest{};
  bool operator==(const Csi&) const = default;
};

struct CacheLevel {
  std::string medium{};  // MEM, SSD or HDD
  std::string path{};    // directories, separated by colons
  std::optional<std::int64_t> size_mib{};
  Opaque rest{};
  bool operator==(const CacheLevel&) const = default;
};

struct Cache {
  std::vector<CacheLevel> levels{};
  Opaque rest{};
  bool operator==(const Cache&) const = default;
};

// The automatic warm-up after a sync or a change of partitions.
struct AutoWarmup {
  std::optional<bool> enabled{};  // true when absent
  Strategy strategy{};
  Opaque rest{};
  bool operator==(const AutoWarmup&) const = default;
};

struct SampleSetSpec {
  std::int32_t partitions = 0;  // as written; ask effective_partitions()
  std::optional<SampleSource> source{};
  std::optional<SecretReference> secret{};
  bool no_sync = false;
  std::optional<Csi> csi{};
  std::optional<Cache> cache{};
  std::optional<AutoWarmup> warmup{};
  Opaque node_affinity{};  // core/v1 NodeAffinity
  Opaque tolerations{};    // list of core/v1 Toleration
  Opaque rest{};
  bool operator==(const SampleSetSpec&) const = default;

  std::int32_t effective_partitions() const { return std::max(partitions, 1); }
  bool warms_up_by_itself() const { return !warmup || warmup->enabled.value_or(true); }
};

// Sizes as people read them, and the exact figures beside them.
struct CacheStatus {
  std::string total_size{};
  std::string total_files{};
  std::string cached_size{};
  std::string disk_size{};
  std::string disk_used{};
  std::string disk_avail{};
  std::string disk_usage_rate{};
  std::string error_message{};  // JSON key "errorMassage": misspelt, and users rely on it
  std::int64_t total_bytes = 0;
  std::int64_t cached_bytes = 0;
  Opaque rest{};
  bool operator==(const CacheStatus&) const = default;
};

struct RuntimeStatus {
  std::string runtime_ready{};  // "ready/partitions"
  std::int32_t spec_replicas = 0;
  std::int32_t ready_replicas = 0;
  Opaque rest{};
  bool operator==(const RuntimeStatus&) const = default;
};

struct JobsName {
  std::string sync{};
  std::string warmup{};
  Opaque rest{};
  bool operator==(const JobsName&) const = default;
};

// The published list of files: DESIGN calls it an index generation.
struct IndexStatus {
  std::int64_t generation = 0;
  std::string digest{};
  std::string synced_by{};    // id of the sync that made it, where the engine does not count
  std::int64_t left_out = 0;  // what the source has and the set cannot show
  std::vector<std::string> left_out_examples{};
  Opaque rest{};
  bool operator==(const IndexStatus&) const = default;
};

// Why the rest of a partition is not in the cache although nothing is going to bring it in: values
// of PartitionStatus::uncached_reason.
namespace uncached {
inline constexpr const char* kNoRoom = "NoRoom";        // the cache is full
inline constexpr const char* kCleared = "Cleared";      // somebody cleared it
inline constexpr const char* kPartly = "PartlyCached";  // evicted, or the warm-up was cancelled
inline constexpr const char* kWarmupFailed = "WarmupFailed";  // often enough
}  // namespace uncached

struct PartitionStatus {
  std::int32_t index = 0;
  std::string node{};
  std::int64_t total_bytes = 0;
  std::int64_t cached_bytes = 0;
  bool ready = false;
  std::string warmed{};     // the automatic warm-up that has ended here ...
  std::string warmed_on{};  // ... and the node on which it did
  // The life of that node's cache which holds what it brought in, so that a loss is noticed; empty
  // when nobody is to bring it back: somebody cleared the cache, or it is not known.
  std::string warmed_in{};
  std::int64_t warmed_bytes = 0;  // how much of the partition was there when it had ended
  // The partition is as warm as it can be, and why it is not warmer; empty when all of it is
  // cached, or a warm-up runs or is to come.
  std::string uncached_reason{};
  Opaque rest{};
  bool operator==(const PartitionStatus&) const = default;
};

// The first sync, from when it is divided among several runtimes until it has ended.
struct SharedSync {
  std::vector<JobPartition> parts{};
  std::vector<JobPartition> left{};  // of a division that was given up, not yet cancelled
  Opaque rest{};
  bool operator==(const SharedSync&) const = default;
};

struct SampleSetStatus {
  std::string phase{};
  std::optional<CacheStatus> cache{};
  std::optional<RuntimeStatus> runtime{};
  std::optional<JobsName> jobs{};
  std::optional<SharedSync> sync{};
  std::string engine{};
  std::string volume_name{};  // of the PersistentVolume
  std::optional<IndexStatus> index{};
  std::vector<PartitionStatus> partitions{};
  std::int64_t observed_generation = 0;
  Conditions conditions{};
  Opaque rest{};
  bool operator==(const SampleSetStatus&) const = default;
};

struct SampleSet {
  static constexpr const char* kApiVersion = "batch.paddlepaddle.org/v1alpha1";
  static constexpr const char* kKind = "SampleSet";

  Meta meta{};
  SampleSetSpec spec{};
  SampleSetStatus status{};
  Opaque rest{};
  bool operator==(const SampleSet&) const = default;
};

// kInvalid with the path when something has the wrong type. Unknown fields are kept.
Result<SampleSet> decode_sample_set(const Json& object);
// decode then encode is the identity.
Json encode(const SampleSet& set);
Json encode(const SampleSetStatus& status);

}  // namespace paddle::api
