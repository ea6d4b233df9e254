// SPDX-License-Identifier: Apache-2.0
//
// The fields (schema/field.h) and cross-field rules (schema/expr.h) of SampleSet: the only list of
// them. Included by sample_set.cc for decoding and by crd/describe.cc for the schema.

#pragma once

#include "api/phases.h"
#include "api/sample_set.h"
#include "api/schema/expr.h"
#include "api/schema/field.h"
#include "api/schema/pattern.h"
#include "api/shared_fields.h"

namespace paddle::api {

inline constexpr const char* kEngines[] = {"juicefs", "samplefs"};
inline constexpr const char* kMediums[] = {"MEM", "SSD", "HDD"};

template <typename Visit>
void fields(Visit& visit, As<SampleSource> auto& s) {
  visit("uri", s.uri,
        {.doc = "Where the samples are: NAME://BUCKET[.ENDPOINT][/PREFIX].",
         .min_length = 6,  // s3://b
         .max_length = kMaxPath});
  visit(
      "secretRef", s.secret,
      {.doc = "Credentials of the source; spec.secretRef when absent, no credentials when the name "
              "is none."});
}

template <typename Visit>
void fields(Visit& visit, As<JuiceFSMountOptions> auto& o) {
  visit("metrics", o.metrics,
        {.doc = "Address that serves metrics, as host:port.",
         .max_length = kMaxName,
         .pattern = kMountAddress});
  visit("attr-cache", o.attr_cache, {.doc = "Seconds attributes are cached.", .min = 0});
  visit("entry-cache", o.entry_cache, {.doc = "Seconds file entries are cached.", .min = 0});
  visit("dir-entry-cache", o.dir_entry_cache,
        {.doc = "Seconds directory entries are cached.", .min = 0});
  visit("enable-xattr", o.enable_xattr, {.doc = "Support extended attributes."});
  visit("get-timeout", o.get_timeout, {.doc = "Seconds a download may take.", .min = 0});
  visit("put-timeout", o.put_timeout, {.doc = "Seconds an upload may take.", .min = 0});
  visit("io-retries", o.io_retries, {.doc = "Retries after network failures.", .min = 0});
  visit("max-uploads", o.max_uploads, {.doc = "Parallel uploads.", .min = 0});
  visit("buffer-size", o.buffer_size, {.doc = "Read and write buffers in MiB.", .min = 0});
  visit("prefetch", o.prefetch, {.doc = "Blocks read ahead.", .min = 0});
  visit("writeback", o.writeback, {.doc = "Upload in the background."});
  visit("cache-dir", o.cache_dir,
        {.doc = "Cache directories, separated by colons: letters, digits and . _ / @ % + -.",
         .max_length = kMaxPath,
         .pattern = kMountCacheDir});
  visit("cache-size", o.cache_size, {.doc = "Cache size in MiB.", .min = 0});
  visit("free-space-ratio", o.free_space_ratio,
        {.doc = "Part of the disk kept free, as text: at least 0, less than 1.",
         .max_length = 32,
         .pattern = kMountRatio});
  visit("cache-partial-only", o.cache_partial_only, {.doc = "Cache only small reads."});
  visit("open-cache", o.open_cache, {.doc = "Seconds open files are cached.", .min = 0});
  visit("sub-dir", o.sub_dir,
        {.doc = "Directory of the volume to mount: letters, digits and . _ / -.",
         .max_length = kMaxPath,
         .pattern = kMountSubDir});
}

inline Rules rules(Tag<JuiceFSMountOptions>) {
  return {{implies(has(self("sub-dir")), negate(matches(self("sub-dir"), kUpwards))),
           "sub-dir must not contain a '..' segment"}};
}

template <typename Visit>
void fields(Visit& visit, As<Csi> auto& c) {
  visit(
      "driver", c.driver,
      {.doc = "The cache engine. When absent: juicefs if the secret has a metaurl, else samplefs.",
       .one_of = kEngines});
  visit("juiceFSMountOptions", c.juicefs, {.doc = "Mount options of the juicefs engine."});
}

template <typename Visit>
void fields(Visit& visit, As<CacheLevel> auto& l) {
  visit("mediumType", l.medium, {.doc = "MEM, SSD or HDD.", .one_of = kMediums});
  visit("path", l.path,
        {.doc = "Absolute directories on the node, separated by colons.",
         .min_length = 1,
         .max_length = kMaxPath,
         .pattern = "^/[^:]*(:/[^:]*)*$"});
  visit("cacheSize", l.size_mib, {.doc = "MiB over all directories of this level.", .min = 0});
}

inline Rules rules(Tag<CacheLevel>) {
  return {{implies(has(self("path")), negate(matches(self("path"), kUpwards))),
           "a cache path must not contain a '..' segment"}};
}

template <typename Visit>
void fields(Visit& visit, As<Cache> auto& c) {
  visit("levels", c.levels,
        {.doc = "Directories of the cache on each node; an engine may divide the sum of the sizes "
                "among them.",
         .min_items = 1,
         .max_items = 16});
}

template <typename Visit>
void fields(Visit& visit, As<AutoWarmup> auto& w) {
  visit("enabled", w.enabled,
        {.doc = "Warm up after each sync and re-partitioning; true when absent."});
  strategy_fields(visit, w.strategy);
}

template <typename Visit>
void fields(Visit& visit, As<SampleSetSpec> auto& s) {
  visit("partitions", s.partitions,
        {.doc = "Cache partitions, one per node; 1 when absent. It can be changed at any time.",
         .min = 1,
         .max = 10'000});
  visit("source", s.source,
        {.doc = "Where the samples come from. It cannot be changed once they are being synced."});
  visit("secretRef", s.secret,
        {.doc = "Secret of the cache engine and, by default, of the source."});
  visit("noSync", s.no_sync, {.doc = "The samples are already in the engine."});
  visit("csi", s.csi, {.doc = "The cache engine and its options."});
  visit("cache", s.cache, {.doc = "Where the cache is on each node."});
  visit("warmup", s.warmup, {.doc = "The automatic warm-up."});
  visit("nodeAffinity", s.node_affinity,
        {.doc = "Which nodes may hold the cache.", .foreign = Foreign::kNodeAffinity});
  visit("tolerations", s.tolerations,
        {.doc = "Taints the cache runtimes tolerate.", .foreign = Foreign::kTolerations});
}

inline Rules rules(Tag<SampleSetSpec>) {
  return {
      {either({has(self("source")), has(self("secretRef"))}), "source or secretRef is required"},
      {either({negate(has(self("source.uri"))), both({has(self("noSync")), self("noSync")}),
               matches(self("source.uri"), "^[a-zA-Z0-9]+://.")}),
       "source.uri must look like NAME://BUCKET[.ENDPOINT][/PREFIX]"},
  };
}

template <typename Visit>
void fields(Visit& visit, As<CacheStatus> auto& s) {
  visit("totalSize", s.total_size, {.doc = "Size of all samples."});
  visit("totalFiles", s.total_files, {.doc = "Number of samples."});
  visit("cachedSize", s.cached_size, {.doc = "Size of what is cached on all partitions."});
  visit("diskSize", s.disk_size, {});
  visit("diskUsed", s.disk_used, {});
  visit("diskAvail", s.disk_avail, {});
  visit("diskUsageRate", s.disk_usage_rate, {});
  visit("namespaceCache", s.namespace_cache,
        {.doc = "What the caches of all sets of the namespace may have on all nodes, of what the "
                "operator allows; absent: it has no limit."});
  visit("errorMassage", s.error_message, {.doc = "Why statistics are missing."});
  visit("totalBytes", s.total_bytes, {});
  visit("cachedBytes", s.cached_bytes, {});
}

template <typename Visit>
void fields(Visit& visit, As<RuntimeStatus> auto& s) {
  visit("runtimeReady", s.runtime_ready, {.doc = "Ready runtimes of all, as 1/2."});
  visit("specReplicas", s.spec_replicas, {});
  visit("readyReplicas", s.ready_replicas, {});
}

template <typename Visit>
void fields(Visit& visit, As<JobsName> auto& s) {
  visit("syncJobName", s.sync, {.doc = "Id of the first sync."});
  visit("warmupJobName", s.warmup, {.doc = "Id of the latest automatic warm-up."});
}

template <typename Visit>
void fields(Visit& visit, As<IndexStatus> auto& s) {
  visit("generation", s.generation, {.doc = "Number of syncs."});
  visit("syncTime", s.sync_time, {.doc = "When this generation was published."});
  visit("syncedBy", s.synced_by,
        {.doc = "Id of the sync that made it, for an engine without generations."});
  visit("digest", s.digest, {});
  visit("leftOut", s.left_out,
        {.doc = "Number of objects of the source that are not in the set because they cannot be "
                "files."});
  visit("leftOutExamples", s.left_out_examples, {.doc = "A few of them, each with the reason."});
}

template <typename Visit>
void fields(Visit& visit, As<PartitionStatus> auto& s) {
  visit("index", s.index, {.required = true, .always = true});
  visit("node", s.node, {});
  visit("totalBytes", s.total_bytes, {});
  visit("cachedBytes", s.cached_bytes, {});
  visit("ready", s.ready, {});
  visit("warmed", s.warmed, {.doc = "The automatic warm-up that ended last on this partition."});
  visit("warmedOn", s.warmed_on, {.doc = "The node on which it ended."});
  visit("warmedIn", s.warmed_in,
        {.doc = "Identifies the cache of that node that holds the data: with another cache it is "
                "loaded again. Empty after a user has cleared the cache."});
  visit("warmedBytes", s.warmed_bytes,
        {.doc = "Bytes of the partition that were cached at its end."});
  visit(
      "uncachedReason", s.uncached_reason,
      {.doc =
           "Why the partition is as warm as it can be but not completely cached: NoRoom, Cleared, "
           "PartlyCached or WarmupFailed. Empty when all of it is cached, or while a warm-up runs "
           "or is planned."});
}

template <typename Visit>
void fields(Visit& visit, As<SharedSync> auto& s) {
  visit("parts", s.parts, {.doc = "What each runtime copies.", .list_key = "index"});
  visit("left", s.left, {.doc = "Parts of an abandoned division, not yet cancelled."});
}

template <typename Visit>
void fields(Visit& visit, As<SampleSetStatus> auto& s) {
  visit("phase", s.phase, {.doc = "Bound, Mount, Syncing, SyncFailed, PartialReady or Ready."});
  visit("cacheStatus", s.cache, {});
  visit("runtimeStatus", s.runtime, {});
  visit("jobsName", s.jobs, {});
  visit("sync", s.sync, {.doc = "The first sync, while several runtimes share it."});
  visit("engine", s.engine, {.doc = "The engine, decided once."});
  visit("volumeName", s.volume_name, {.doc = "The PersistentVolume of this set."});
  visit("index", s.index, {.doc = "The file list in use."});
  visit("partitions", s.partitions, {.doc = "Each partition.", .list_key = "index"});
  visit("observedGeneration", s.observed_generation,
        {.doc = "The metadata.generation this status is about."});
  visit("conditions", s.conditions, {.list_key = "type"});
}

template <typename Visit>
void fields(Visit& visit, As<SampleSet> auto& s) {
  visit("spec", s.spec, {.required = true});
  visit("status", s.status, {});
}

inline Rules rules(Tag<SampleSet>) {
  const Expr name = self("metadata.name");
  // Holds while the phase is one of these; an absent phase is the first one, "".
  const auto while_in = [](const std::vector<const char*>& phases) {
    return either({negate(has(old_self("status.phase"))), in(old_self("status.phase"), phases)});
  };
  Rules all{at_creation(both({at_most(size(name), lit(44)), matches(name, kDns1035)}),
                        "metadata.name must be at most 44 lower-case letters, digits and dashes, "
                        "beginning with a letter: runtimes are called <name>-runtime-<i>")};
  for (const char* fixed : {"secretRef", "csi", "cache"}) {
    all.push_back(
        {either({while_in({sample_set_phase::kNone}), unchanged("spec." + std::string(fixed))}),
         "spec." + std::string(fixed) + " cannot be changed once the volume is bound"});
  }
  const Expr may_sync =
      while_in({sample_set_phase::kNone, sample_set_phase::kBound, sample_set_phase::kSyncFailed});
  all.push_back({either({may_sync, unchanged("spec.source")}),
                 "spec.source cannot be changed once the samples are synced"});
  all.push_back({either({may_sync, unchanged_flag("spec.noSync")}),
                 "spec.noSync cannot be changed once the samples are synced"});
  return all;
}

}  // namespace paddle::api
