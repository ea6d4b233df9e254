// SPDX-License-Identifier: Apache-2.0
//
// The fields (schema/field.h) and cross-field rules (schema/expr.h) of SampleJob: the only list of
// them. Included by sample_job.cc for decoding and by crd/describe.cc for the schema.

#pragma once

#include "api/job_kinds.h"
#include "api/sample_job.h"
#include "api/schema/expr.h"
#include "api/schema/field.h"
#include "api/schema/pattern.h"
#include "api/shared_fields.h"

namespace paddle::api {

inline constexpr const char* kConcurrencyPolicies[] = {"Allow", "Forbid", "Replace"};
inline constexpr int kMaxPaths = 1000;

// Five cron fields, or a name such as @daily. A coarse check: the controller parses the schedule.
inline constexpr const char* kCron =
    "^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|[-0-9*/,?LA-Za-z]+( "
    "+[-0-9*/,?LA-Za-z#]+){4})$";

template <typename Visit>
void fields(Visit& visit, As<LocalReference> auto& r) {
  visit("name", r.name,
        {.doc = "Name of the SampleSet, in the same namespace.",
         .min_length = 1,
         .max_length = kMaxName,
         .required = true});
}

template <typename Visit>
void fields(Visit& visit, As<SyncOptions> auto& o) {
  visit("source", o.source,
        {.doc = "Where to copy from; the SampleSet's source when absent.", .max_length = kMaxPath});
  visit("destination", o.destination,
        {.doc = "Directory in the data set to copy to; its root when absent.",
         .max_length = kMaxPath});
  visit("start", o.start, {.doc = "First key to copy.", .max_length = kMaxPath});
  visit("end", o.end, {.doc = "Last key to copy.", .max_length = kMaxPath});
  visit("threads", o.threads, {.doc = "Number of parallel copies.", .min = 0, .max = 10'000});
  visit("http-port", o.http_port, {.doc = "Accepted and ignored.", .min = 0, .max = 65535});
  visit("update", o.update, {.doc = "Also copy files that are newer at the source."});
  visit("force-update", o.force_update, {.doc = "Copy everything again."});
  visit("perms", o.perms, {.doc = "Keep permissions."});
  visit("dirs", o.dirs, {.doc = "Copy directories too."});
  visit("dry", o.dry, {.doc = "Only report what would be copied."});
  visit("delete-src", o.delete_src, {.doc = "Delete at the source what has been copied."});
  visit("delete-dst", o.delete_dst, {.doc = "Delete at the destination what the source lacks."});
  visit("exclude", o.exclude, {.doc = "Paths to exclude.", .max_length = kMaxPath});
  visit("include", o.include, {.doc = "Paths to include.", .max_length = kMaxPath});
  visit("manager", o.manager,
        {.doc = "Refused: the runtimes share the work themselves.", .max_length = kMaxName});
  visit("worker", o.worker, {.doc = "Accepted and ignored.", .max_length = kMaxPath});
  visit("bwlimit", o.bwlimit, {.doc = "Mbit/s of the whole job; 0 means no limit.", .min = 0});
  visit("no-https", o.no_https,
        {.doc = "Use HTTP for the source instead of HTTPS. With samplefs the scheme of an endpoint "
                "takes precedence."});
}

inline Rules rules(Tag<SyncOptions>) {
  return {
      {implies(has(self("source")), matches(self("source"), "^$|^[a-zA-Z0-9]+://.")),
       "source must look like NAME://BUCKET[.ENDPOINT][/PREFIX]"},
      {implies(has(self("destination")), negate(matches(self("destination"), kUpwards))),
       "destination must not contain a '..' segment"},
  };
}

// No path leaves the root of the data set.
inline Rules path_rules() {
  return {{implies(has(self("paths")), all_of(self("paths"), negate(matches(element(), kUpwards)))),
           "paths must not contain a '..' segment"}};
}

template <typename Visit>
void path_list(Visit& visit, auto& paths, const char* doc, bool required = false) {
  visit("paths", paths,
        {.doc = doc,
         .min_length = 1,
         .max_length = kMaxPath,
         .min_items = 1,
         .max_items = kMaxPaths,
         .required = required});
}

template <typename Visit>
void fields(Visit& visit, As<WarmupOptions> auto& o) {
  path_list(visit, o.paths, "Paths in the data set; all of it when absent.");
  visit("partitions", o.partitions,
        {.doc = "Accepted and ignored; the partitions of the SampleSet are used.", .min = 1});
  strategy_fields(visit, o.strategy);
  visit("file", o.file,
        {.doc = "A file in the data set that lists paths.", .max_length = kMaxPath});
  visit("threads", o.threads, {.doc = "Number of parallel reads.", .min = 0, .max = 10'000});
}
inline Rules rules(Tag<WarmupOptions>) {
  Rules all = path_rules();
  all.push_back({implies(has(self("file")), negate(matches(self("file"), kUpwards))),
                 "file must not contain a '..' segment"});
  return all;
}

template <typename Visit>
void fields(Visit& visit, As<RmrOptions> auto& o) {
  path_list(visit, o.paths, "Paths in the data set to remove.", true);
  visit("skip-trash", o.skip_trash, {.doc = "Free the space at once."});
}
inline Rules rules(Tag<RmrOptions>) { return path_rules(); }

template <typename Visit>
void fields(Visit& visit, As<ClearOptions> auto& o) {
  path_list(
      visit, o.paths,
      "Paths in the data set whose samples are removed from the caches; all of it when absent. "
      "A cache directory means all.");
}
inline Rules rules(Tag<ClearOptions>) { return path_rules(); }

template <typename Visit>
void fields(Visit& visit, As<VerifyOptions> auto& o) {
  path_list(visit, o.paths, "Paths in the data set; all of it when absent.");
  visit("repair", o.repair,
        {.doc = "Fetch again what is missing or corrupt; otherwise it is only reported."});
  visit("threads", o.threads, {.doc = "Number of parallel reads.", .min = 0, .max = 10'000});
}
inline Rules rules(Tag<VerifyOptions>) { return path_rules(); }

template <typename Visit>
void fields(Visit& visit, As<SampleJobSpec> auto& s) {
  visit("type", s.type,
        {.doc = "What the runtimes do.", .one_of = kJobKindNames, .required = true});
  visit("sampleSetRef", s.sample_set, {.doc = "The data set to work on.", .required = true});
  visit("secretRef", s.secret, {.doc = "Credentials of the source of a sync."});
  visit("terminate", s.terminate, {.doc = "First cancel jobs of this data set that run or wait."});
  visit("syncOptions", s.sync, {.doc = "For type sync."});
  visit("warmupOptions", s.warmup, {.doc = "For type warmup."});
  visit("rmrOptions", s.rmr, {.doc = "For type rmr."});
  visit("clearOptions", s.clear, {.doc = "For type clear."});
  visit("verifyOptions", s.verify, {.doc = "For type verify."});
  visit("schedule", s.schedule,
        {.doc = "Schedule of repeated runs: five cron fields, or a name such as @daily.",
         .max_length = 256,
         .pattern = kCron});
  visit("timeZone", s.time_zone,
        {.doc = "Time zone of the schedule, such as Asia/Shanghai; UTC when absent.",
         .max_length = 64});
  visit(
      "concurrencyPolicy", s.concurrency_policy,
      {.doc = "What to do when a run is due and the previous one still runs: Allow (when absent), "
              "Forbid or Replace.",
       .one_of = kConcurrencyPolicies});
  visit("suspend", s.suspend, {.doc = "While true no run is started."});
  visit("startingDeadlineSeconds", s.starting_deadline_seconds,
        {.doc = "A run that would start later than this is skipped.", .min = 0});
  visit("successfulJobsHistoryLimit", s.successful_jobs_history_limit,
        {.doc = "Successful runs to keep; 3 when absent.", .min = 0});
  visit("failedJobsHistoryLimit", s.failed_jobs_history_limit,
        {.doc = "Failed runs to keep; 1 when absent.", .min = 0});
  visit("backoffLimit", s.backoff_limit, {.doc = "Retries after failures.", .min = 0});
  visit("activeDeadlineSeconds", s.active_deadline_seconds,
        {.doc = "The job fails when it runs longer than this.", .min = 1});
  visit("ttlSecondsAfterFinished", s.ttl_seconds_after_finished,
        {.doc = "The job is deleted this long after its end.", .min = 0});
}

inline Rules rules(Tag<SampleJobSpec>) {
  return {{either({negate(equal(self("type"), lit(info_of(JobKind::kRemove).name))),
                   has(self("rmrOptions"))}),
           "type rmr requires rmrOptions.paths"},
          {implies(has(self("timeZone")), has(self("schedule"))), "timeZone requires a schedule"}};
}

template <typename Visit>
void fields(Visit& visit, As<CronJobStatus> auto& s) {
  visit("active", s.active, {.doc = "Runs that have not ended."});
  visit("lastScheduleTime", s.last_schedule, {});
  visit("lastSuccessfulTime", s.last_successful, {});
  visit("nextScheduleTime", s.next_schedule, {});
}

template <typename Visit>
void fields(Visit& visit, As<SampleJobStatus> auto& s) {
  visit("phase", s.phase, {.doc = "Pending, Running, Succeeded or Failed."});
  visit("jobName", s.job_name, {.doc = "Id of the work at the runtimes."});
  visit("progress", s.progress, {.doc = "Progress as text: 42% 1.7 GiB/4.2 GiB."});
  visit("work", s.work, {.doc = "Progress as numbers."});
  visit("verification", s.verification, {.doc = "What a verification has found."});
  visit("partitions", s.partitions, {.doc = "Each partition.", .list_key = "index"});
  visit("left", s.left, {.doc = "Parts of an abandoned division, not yet cancelled."});
  visit("cronJobStatus", s.cron, {});
  visit("failures", s.failures, {});
  visit("lastFailureTime", s.last_failure, {});
  visit("startTime", s.start_time, {});
  visit("completionTime", s.completion_time, {});
  visit("duration", s.duration,
        {.doc = "How long the job ran, or has run when its progress last changed: 4m30s."});
  visit("observedGeneration", s.observed_generation,
        {.doc = "The metadata.generation this status is about."});
  visit("conditions", s.conditions, {.list_key = "type"});
}

template <typename Visit>
void fields(Visit& visit, As<SampleJob> auto& j) {
  visit("spec", j.spec, {.required = true});
  visit("status", j.status, {});
}

inline Rules rules(Tag<SampleJob>) {
  return {at_creation(
      either({negate(has(self("spec.schedule"))), at_most(size(self("metadata.name")), lit(52))}),
      "metadata.name must be at most 52 characters with a schedule: runs are called "
      "<name>-<hash>")};
}

}  // namespace paddle::api
