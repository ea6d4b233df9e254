// SPDX-License-Identifier: Apache-2.0
//
// The fields (schema/field.h) and cross-field rules (schema/expr.h) of PaddleJob: the only list of
// them. Included by paddle_job.cc for decoding and by crd/describe.cc for the schema.

#pragma once

#include "api/paddle_job.h"
#include "api/schema/expr.h"
#include "api/schema/field.h"
#include "api/schema/pattern.h"
#include "api/shared_fields.h"

namespace paddle::api {

// The list of all workers is one environment variable, for which Linux allows 128 KiB: 5,957
// workers with IPv4 addresses. Longer addresses allow fewer; the operator checks those.
inline constexpr int kMaxReplicas = 5'000;
inline constexpr const char* kCleanPolicies[] = {
    "", "Always", "Never", "OnFailure", "OnCompletion", "OnFailed", "Nerver"};
inline constexpr const char* kRestartPolicies[] = {"", "Always", "OnFailure", "Never"};
inline constexpr int kMaxTasks = 32;
inline constexpr const char* kAffinities[] = {"required", "preferred"};

template <typename Visit>
void fields(Visit& visit, As<Role> auto& r) {
  visit("replicas", r.replicas,
        {.doc = "Number of pods of this role.",
         .min = 0,
         .max = kMaxReplicas,
         .required = true,
         .always = true});
  visit("requests", r.requests,
        {.doc = "Minimum number of pods of an elastic job.", .min = 0, .max = kMaxReplicas});
  visit("limits", r.limits,
        {.doc = "Maximum number of pods of an elastic job; 0 means no limit.",
         .min = 0,
         .max = kMaxReplicas});
  visit("template", r.pod_template,
        {.doc = "The pod to run; its container named paddle, or else the first, trains.",
         .foreign = Foreign::kPodTemplate});
  visit(
      "restartPolicy", r.restart_policy,
      {.doc = "The pods' restartPolicy where the template has none.", .one_of = kRestartPolicies});
}

inline Rules rules(Tag<Role>) {
  return {
      {either({at_most(self("replicas"), lit(0)), has(self("template.spec"))}),
       "a role with replicas must have a template with containers"},
  };
}

// Rules for the trainers of an elastic job; requests and limits of other roles are ignored. `of`
// returns the expression of a field of the trainers.
template <typename Of>
Expr requests_within_replicas(const Of& of) {
  return implies(has(of("requests")), at_most(of("requests"), of("replicas")));
}
template <typename Of>
Expr replicas_within_limits(const Of& of) {
  return either({negate(has(of("limits"))), equal(of("limits"), lit(0)),
                 at_most(of("replicas"), of("limits"))});
}

template <typename Visit>
void fields(Visit& visit, As<Task> auto& t) {
  visit(
      "name", t.name,
      {.doc = "The part before the first dash determines the role of the task: ps, heter, driver; "
              "others train.",
       .min_length = 1,
       .max_length = 40,
       .pattern = kDns1123,
       .required = true});
  using Base =
      std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(t)>>, const Role, Role>;
  fields(visit, static_cast<Base&>(t));
}

inline Rules rules(Tag<Task>) { return rules(Tag<Role>{}); }

template <typename Visit>
void fields(Visit& visit, As<SchedulingPolicy> auto& p) {
  visit("minAvailable", p.min_available,
        {.doc = "Pods that must fit together; all of them when absent.", .min = 0});
  visit("queue", p.queue, {.doc = "Volcano queue.", .max_length = kMaxName});
  visit("priorityClass", p.priority_class,
        {.doc = "Priority class of the pod group.", .max_length = kMaxName});
  visit("minResources", p.min_resources,
        {.doc = "Resources that must be free; computed from the pods when absent.",
         .foreign = Foreign::kQuantities});
}

template <typename Visit>
void fields(Visit& visit, As<DataGate> auto& g) {
  visit("warmPercent", g.warm_percent,
        {.doc = "Start when every partition the job uses is warm to this percentage, or as warm as "
                "it can be; 100 when absent.",
         .min = 1,
         .max = 100});
  visit(
      "timeoutSeconds", g.timeout_seconds,
      {.doc =
           "Start after this time even if it is not warm; never before the first sync of the set.",
       .min = 1});
}

template <typename Visit>
void fields(Visit& visit, As<SampleSetMount> auto& m) {
  visit(
      "name", m.name,
      {.doc = "Name of the SampleSet.", .min_length = 1, .max_length = kMaxName, .required = true});
  visit(
      "namespace", m.ns,
      {.doc = "Namespace of the SampleSet; volumes do not cross namespaces, so only the job's own "
              "works.",
       .max_length = 63});
  visit("mountPath", m.mount_path,
        {.doc = "Absolute path in the container, without a colon.",
         .max_length = kMaxPath,
         .pattern = "^/[^:]*$",
         .required = true});
  visit("affinity", m.affinity,
        {.doc = "Whether worker i is placed on the node of partition i: required (when absent) or "
                "preferred.",
         .one_of = kAffinities});
  visit("readOnly", m.read_only, {.doc = "Mount read-only."});
  visit("containers", m.containers,
        {.doc = "Containers that get the mount; the training container when absent.",
         .max_items = 64});
  visit("gate", m.gate, {.doc = "Create the pods gated, and lift the gates when data is warm."});
}

inline constexpr int kMaxFailureRules = 20;

template <typename Visit>
void fields(Visit& visit, As<ExitCodes> auto& e) {
  visit("containerName", e.container_name,
        {.doc = "Only exit codes of this container; of every container when absent.",
         .max_length = 63});
  visit("operator", e.op,
        {.doc = "In: the exit code is one of values. NotIn: it is none of them, and not 0.",
         .one_of = kExitCodeOperators,
         .required = true});
  visit("values", e.values,
        {.doc = "Exit codes.",
         .min = 1,
         .max = 255,
         .min_items = 1,
         .max_items = 255,
         .required = true});
}

template <typename Visit>
void fields(Visit& visit, As<FailureRule> auto& r) {
  visit("action", r.action,
        {.doc = "Fail: the job fails. Restart: it restarts, counted against its limits. Ignore: it "
                "restarts, and nothing is counted.",
         .one_of = kFailureActions,
         .required = true});
  visit("onExitCodes", r.on_exit_codes,
        {.doc = "Matches a container that ended with such a code."});
  visit(
      "onReasons", r.on_reasons,
      {.doc = "Matches a pod, or a container of it, that ended with one of these reasons: "
              "OOMKilled, Evicted, DeadlineExceeded, ...; DisruptionTarget matches every pod with "
              "this condition.",
       .max_length = 63,
       .max_items = 20});
}

inline Rules rules(Tag<FailureRule>) {
  const Expr codes = has(self("onExitCodes"));
  const Expr reasons = both({has(self("onReasons")), less(lit(0), size(self("onReasons")))});
  return {{both({either({codes, reasons}), negate(both({codes, reasons}))}),
           "a rule of failurePolicy needs either onExitCodes or onReasons"}};
}

template <typename Visit>
void fields(Visit& visit, As<FailurePolicy> auto& p) {
  visit("rules", p.rules,
        {.doc = "Tried in this order; the first that matches a failed pod decides. Without a match "
                "the limits decide.",
         .max_items = kMaxFailureRules});
}

template <typename Visit>
void fields(Visit& visit, As<PaddleJobSpec> auto& s) {
  visit("ps", s.ps, {.doc = "Parameter servers; their presence makes it a PS job."});
  visit("worker", s.worker, {.doc = "Trainers."});
  visit("heter", s.heter, {.doc = "Heterogeneous trainers."});
  visit("mode", s.mode,
        {.doc = "PS, Collective, Single or Custom, for tasks; derived from the tasks when absent.",
         .one_of = kModes});
  visit("tasks", s.tasks,
        {.doc = "Instead of ps, worker and heter: tasks in the order of ranks.",
         .max_items = kMaxTasks,
         .list_key = "name"});
  visit("startInOrder", s.start_in_order,
        {.doc = "1: a task starts when all pods of the previous tasks run."});
  visit("cleanPodPolicy", s.clean_pod_policy,
        {.doc = "Which finished jobs lose their pods: Always, Never, OnFailure, OnCompletion (when "
                "absent). OnFailed and Nerver are accepted and act as Never.",
         .one_of = kCleanPolicies});
  visit(
      "cleanPolicy", s.clean_policy,
      {.doc = "Another name of cleanPodPolicy, which takes precedence.", .one_of = kCleanPolicies});
  visit("intranet", s.intranet,
        {.doc = "How pods address each other: PodIP (when absent), Service or Host.",
         .one_of = kIntranets});
  visit("withGloo", s.with_gloo,
        {.doc = "Gloo rendezvous of a PS job: 0 off, 1 workers, 2 workers and servers.",
         .min = 0,
         .max = 2});
  visit("elastic", s.elastic, {.doc = "Any value, even 0, makes the job elastic."});
  visit("schedulingPolicy", s.scheduling_policy, {.doc = "Gang scheduling with Volcano."});
  visit("sampleSetRef", s.sample_set, {.doc = "The data set the workers read."});
  visit("backoffLimit", s.backoff_limit,
        {.doc = "Restarts after failures of the program, of the whole job and of containers in "
                "place. When absent, the whole job is not restarted, and containers without limit.",
         .min = 0});
  visit("disruptionLimit", s.disruption_limit,
        {.doc = "Restarts after evictions and lost nodes; 3 when absent. They are counted from 0 "
                "again when the job has run for an hour since the last one.",
         .min = 0});
  visit("failurePolicy", s.failure_policy,
        {.doc = "What exit codes and reasons of failed pods mean for the job."});
  visit("successPolicy", s.success_policy,
        {.doc = "When the job is complete: All workers have succeeded (when absent), the Chief "
                "(worker 0) has, or Any worker has. Pods that still run are deleted then.",
         .one_of = kSuccessPolicies});
  visit("activeDeadlineSeconds", s.active_deadline_seconds,
        {.doc = "The job fails when it has not ended this long after a pod of it first had a node. "
                "Waiting for a queue or for samples does not count, nor does a suspension.",
         .min = 1});
  visit("ttlSecondsAfterFinished", s.ttl_seconds_after_finished,
        {.doc = "The job is deleted this long after its end.", .min = 0});
  visit("suspend", s.suspend, {.doc = "While true the job has no pods."});
  visit("managedBy", s.managed_by,
        {.doc = "The controller that runs the job: batch.paddlepaddle.org/paddle-operator (when "
                "absent), or another one, and then this operator leaves the job alone. Cannot be "
                "changed.",
         .max_length = 63,
         .pattern = "^[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9._-]+$"});
}

inline Rules rules(Tag<PaddleJobSpec>) {
  const auto runs = [](const char* role) {
    return both({has(self(role)), less(lit(0), self(std::string(role) + ".replicas"))});
  };
  const Expr tasks = both({has(self("tasks")), less(lit(0), size(self("tasks")))});
  const Expr idle = all_of(self("tasks"), at_most(element("replicas"), lit(0)));
  const Expr elastic = has(self("elastic"));
  const auto worker = [](const std::string& field) { return self("worker." + field); };
  const auto task = [](const std::string& field) { return element(field); };
  return {
      {either({has(self("ps")), has(self("worker")), has(self("heter")), tasks}),
       "at least one of ps, worker and heter is needed"},
      {either({runs("ps"), runs("worker"), runs("heter"), both({tasks, negate(idle)})}),
       "at least one role needs replicas greater than 0"},
      {implies(elastic, either({has(self("worker")), tasks})), "elastic needs a worker role"},
      {implies(both({elastic, has(self("worker"))}), requests_within_replicas(worker)),
       "requests must not exceed replicas"},
      {implies(both({elastic, has(self("worker"))}), replicas_within_limits(worker)),
       "replicas must not exceed limits"},
      {implies(both({elastic, tasks}), all_of(self("tasks"), requests_within_replicas(task))),
       "requests must not exceed replicas"},
      {implies(both({elastic, tasks}), all_of(self("tasks"), replicas_within_limits(task))),
       "replicas must not exceed limits"},
      {implies(tasks, negate(either({has(self("ps")), has(self("worker")), has(self("heter"))}))),
       "tasks go alone: write either tasks, or ps, worker and heter"},
      {unchanged("managedBy"), "managedBy cannot be changed"},
  };
}

template <typename Visit>
void fields(Visit& visit, As<RoleStatus> auto& s) {
  visit("pending", s.pending, {});
  visit("starting", s.starting, {});
  visit("running", s.running, {});
  visit("failed", s.failed, {});
  visit("succeeded", s.succeeded, {});
  visit("unknown", s.unknown, {});
  visit("restarts", s.restarts,
        {.doc = "How often containers of these pods were restarted in place."});
  visit("completedIndexes", s.completed_indexes,
        {.doc = "Pods that succeeded since the job was last restarted, by index: 0-3,7. They stay "
                "succeeded when they are deleted."});
  visit("refs", s.refs, {.doc = "The role's pods; at most 1000 of all roles together."});
}

template <typename Visit>
void fields(Visit& visit, As<DataVersion> auto& v) {
  visit("name", v.name, {});
  visit("generation", v.generation, {});
  visit("digest", v.digest, {});
}

template <typename Visit>
void fields(Visit& visit, As<PaddleJobStatus> auto& s) {
  visit("phase", s.phase,
        {.doc = "Pending, Starting, Running, Restarting, Suspended, Completed, Failed or "
                "Terminating."});
  visit("mode", s.mode, {.doc = "PS, Collective, Single or Custom."});
  visit("ready", s.ready, {.doc = "Pods that run or have succeeded, of all pods: 2/2."});
  visit("ps", s.ps, {});
  visit("worker", s.worker, {});
  visit("heter", s.heter, {});
  visit("tasks", s.tasks, {});
  visit("elastic", s.elastic, {});
  visit("startTime", s.start_time, {.doc = "When all pods first ran."});
  visit("completionTime", s.completion_time, {.doc = "When the job completed or failed."});
  visit("runningTime", s.running_time, {.doc = "When all pods of the current run first ran."});
  visit("activeTime", s.active_time,
        {.doc = "When a pod first had a node, since the job was created or resumed: the beginning "
                "of activeDeadlineSeconds."});
  visit("observedGeneration", s.observed_generation,
        {.doc = "The metadata.generation this status is about."});
  visit("conditions", s.conditions, {.list_key = "type"});
  visit("epoch", s.epoch, {.doc = "How often the whole job was restarted."});
  visit("failures", s.failures, {.doc = "Restarts that count against backoffLimit."});
  visit("disruptions", s.disruptions, {.doc = "Restarts that count against disruptionLimit."});
  visit("ignoredFailures", s.ignored_failures,
        {.doc = "Restarts that a rule of failurePolicy does not count."});
  visit("restarts", s.restarts,
        {.doc = "How often the whole job was restarted, and since then its containers in place."});
  visit("restartTime", s.restart_time, {.doc = "When the whole job was last restarted."});
  visit("restartRequest", s.restart_request,
        {.doc = "The last value of the annotation batch.paddlepaddle.org/restart."});
  visit("port", s.port, {.doc = "First of the 20 host ports of the job, with intranet Host."});
  visit("replicas", s.replicas, {.doc = "Worker pods, for kubectl scale."});
  visit("selector", s.selector, {.doc = "Selects the worker pods, for kubectl scale."});
  visit("sampleSet", s.sample_set, {.doc = "The state of the data set when the job was started."});
}

template <typename Visit>
void fields(Visit& visit, As<PaddleJob> auto& j) {
  visit("spec", j.spec, {.required = true});
  visit("status", j.status, {});
}

// <job>-ps-0, the shortest name of a pod, has to be a DNS label: it is the host name of the pod,
// and the name of a Service. The operator checks longer names, because it knows the number of pods.
inline Rules rules(Tag<PaddleJob>) {
  const Expr name = self("metadata.name");
  return {
      at_creation(
          both({at_most(size(name), lit(58)), matches(name, kDns1123)}),
          "metadata.name must be at most 58 lower-case letters, digits and dashes, beginning "
          "and ending with a letter or digit: pods are called <name>-<role>-<i>"),
      at_creation(
          either({negate(has(self("spec.intranet"))),
                  negate(equal(self("spec.intranet"), lit("Service"))), matches(name, kDns1035)}),
          "metadata.name must begin with a letter when intranet is Service"),
  };
}

}  // namespace paddle::api
