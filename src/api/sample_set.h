// SPDX-License-Identifier: Apache-2.0
//
// SampleSet (batch.paddlepaddle.org/v1alpha1) as a value. sample_set_fields.h is the only list of
// the JSON names, limits and meanings of the fields. Plain values: copy them, compare them, share
// them between threads.

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

// The mount options of JuiceFS under their own names. All are optional, because zero is a valid
// value.
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
  std::string driver{};  // the engine; empty: derived from the Secret
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
  std::int32_t partitions = 0;  // as written; see effective_partitions()
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

// Sizes as readable text, and the exact numbers of bytes.
struct CacheStatus {
  std::string total_size{};
  std::string total_files{};
  std::string cached_size{};
  std::string disk_size{};
  std::string disk_used{};
  std::string disk_avail{};
  std::string disk_usage_rate{};
  std::string namespace_cache{};  // "300 GiB of 1.0 TiB"
  std::string error_message{};    // JSON key "errorMassage": misspelled, but clients depend on it
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

// The published list of files: one generation of the index.
struct IndexStatus {
  std::int64_t generation = 0;
  std::string digest{};
  std::optional<WallTime> sync_time{};  // when this generation was published
  std::string synced_by{};    // id of the sync that made it, for an engine without generations
  std::int64_t left_out = 0;  // objects of the source that cannot be files of the set
  std::vector<std::string> left_out_examples{};
  Opaque rest{};
  bool operator==(const IndexStatus&) const = default;
};

// Values of PartitionStatus::uncached_reason: why a part of the partition is not cached although no
// warm-up will load it.
namespace uncached {
inline constexpr const char* kNoRoom = "NoRoom";        // the cache is full
inline constexpr const char* kCleared = "Cleared";      // a user cleared it
inline constexpr const char* kPartly = "PartlyCached";  // evicted, or the warm-up was cancelled
inline constexpr const char* kWarmupFailed = "WarmupFailed";  // too often
}  // namespace uncached

struct PartitionStatus {
  std::int32_t index = 0;
  std::string node{};
  std::int64_t total_bytes = 0;
  std::int64_t cached_bytes = 0;
  bool ready = false;
  std::string warmed{};     // id of the last automatic warm-up that ended here
  std::string warmed_on{};  // the node on which it ended
  // Identifies the cache of that node that holds the loaded data, so that the loss of the cache is
  // noticed. Empty when the data is not to be loaded again: a user cleared the cache, or the cache
  // is not known.
  std::string warmed_in{};
  std::int64_t warmed_bytes = 0;  // bytes of the partition that were cached when it ended
  // Why the partition is as warm as it can be but not completely cached. Empty when all of it is
  // cached, or while a warm-up runs or is planned.
  std::string uncached_reason{};
  Opaque rest{};
  bool operator==(const PartitionStatus&) const = default;
};

// The first sync, while it is divided among several runtimes.
struct SharedSync {
  std::vector<JobPartition> parts{};
  std::vector<JobPartition> left{};  // parts of an abandoned division, not yet cancelled
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

// kInvalid with the path of the first field that has the wrong type. Unknown fields are kept.
Result<SampleSet> decode_sample_set(const Json& object);
// The inverse of decoding: the same JSON.
Json encode(const SampleSet& set);
Json encode(const SampleSetStatus& status);

}  // namespace paddle::api
