# SPDX-License-Identifier: Apache-2.0
"""How much slower than the control plane itself is paddle-operator, and what does it cost?

    bench/control [--jobs N] [--workers N] [--idle-jobs N] [--rounds N] [--connections N]
                  [--seed N] [--programs DIR] [--results DIR] [--quick] [--curves]

A real API server, scheduler and controller manager with simulated nodes. In each round the operator
brings jobs to Running, and a bare client makes the same objects without it (the floor), in random
order. Then the number of jobs grows, on this cluster and on one in memory, and the exponents of the
operator's costs are computed (growth.py). See bench/README.md. The last line of output is one JSON
object. Nothing is asserted.
"""
import argparse
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

from paddle_tools import sandbox
from paddle_tools.bench import audit_log, control_report, growth, job_objects, machine, programs
from paddle_tools.bench.control_cluster import JOBS, Cluster, Operator
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.paths import TOP
from paddle_tools.testbed.up import unsupported_reason

AGENT = "paddle-operator/"
FALSE_NODES = 100
LIMIT = 600   # seconds for all to be Running
REST = 7      # seconds without other requests than leases and watches; status writes wait less
PROGRAMS = {"bench": ("make_objects", "grow_cluster"), "bin": ("paddle-operator",)}
CURVES = ("memory-curve", "server-curve")


def log(text: str) -> None:
    print(f"bench: {text}", flush=True)


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200, help="of 2 ps and 2 workers each")
    parser.add_argument("--workers", type=int, default=500, help="of the big job")
    parser.add_argument("--idle-jobs", type=int, default=1000)
    parser.add_argument("--idle-seconds", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--connections", "--hands", type=int, default=16,
                        help="connections that create objects")
    parser.add_argument("--seed", type=int, default=None, help="of the orders; random when absent")
    parser.add_argument("--quick", action="store_true", help="few jobs, one round: does it work?")
    parser.add_argument("--polite", action="store_true",
                        help="take no precedence over other programs of this machine")
    parser.add_argument("--only", default=f"jobs,big,released,idle,{','.join(CURVES)}",
                        help="comma list of scenarios (default: %(default)s)")
    parser.add_argument("--curves", action="store_true",
                        help=f"the same as --only {','.join(CURVES)}")
    programs.add_arguments(parser)
    plan = parser.parse_args(argv)
    plan.only = list(CURVES) if plan.curves else plan.only.split(",")
    plan.memory_sizes, plan.server_sizes = growth.IN_MEMORY, growth.ON_A_SERVER
    if plan.quick:
        plan.memory_sizes, plan.server_sizes = (50, 100, 200), (10, 20, 40)
        plan.jobs, plan.workers, plan.idle_jobs, plan.rounds = 40, 100, 60, 1
        plan.idle_seconds, plan.polite = 20, True
    programs.complete(plan)
    return plan


class Bench:
    def __init__(self, plan: argparse.Namespace, cluster: Cluster, scratch: Path) -> None:
        self.plan, self.cluster, self.scratch = plan, cluster, scratch
        self.random = random.Random(plan.seed)
        self.turns: list[Json] = []
        self.idle: Json | None = None
        self.curve: growth.Curve = []
        self.audit_log = audit_log.AuditLog(cluster.audit_log, AGENT)
        self.scenarios = {"jobs": job_objects.jobs(plan.jobs, ps=2, worker=2),
                          "big": job_objects.jobs(1, worker=plan.workers),
                          "released": job_objects.jobs(plan.jobs, ps=2, worker=2, waits=True)}
        self.pods = {"jobs": 4 * plan.jobs, "big": plan.workers, "released": 4 * plan.jobs}
        self.objects: dict[str, list[Json]] = {}  # of a scenario, as the operator makes them

    def run(self) -> None:
        wanted = [each for each in self.scenarios if each in self.plan.only]
        for name in wanted:
            log(f"{name}: learning what the operator makes")
            self.operator(name, at=None)
        for at in range(self.plan.rounds):
            for name in wanted:
                turns = [self.floor, self.operator]
                self.random.shuffle(turns)
                for turn in turns:
                    turn(name, at)
        if "idle" in self.plan.only:
            self.idle = self.rest_with_many_jobs()
        if "server-curve" in self.plan.only:
            self.curve = [self.grown_to(jobs) for jobs in self.plan.server_sizes]

    # --- turns ------------------------------------------------------------------------------------

    def make(self, objects: list[Json], watched: str, count: int) -> Json:
        """What the client measured, with the processor time that was used meanwhile."""
        all_programs, bed = machine.busy_seconds()[0], self.cluster.cpu_seconds()
        result = self.cluster.make(self.scratch / "programs/make_objects", objects, watched, count,
                                   self.plan.connections, LIMIT)
        bed = self.cluster.cpu_seconds() - bed
        busy = machine.busy_seconds()[0] - all_programs
        return {**result, "bed_cpu": bed, "busy": busy}

    def floor(self, name: str, at: int | None) -> None:
        ns = self.cluster.namespace()
        objects = job_objects.in_namespace(self.objects[name], ns)
        result = self.make(objects, "pods", self.pods[name])
        self.note(name, at, "floor", result,
                  others=result["busy"] - result["bed_cpu"] - result["cpu"])
        self.cluster.clear(ns)

    def operator(self, name: str, at: int | None) -> None:
        with self.leading() as operator:
            ns = self.cluster.namespace()
            objects = job_objects.in_namespace(self.scenarios[name], ns)
            begin, used = self.audit_log.end(), operator.cpu_seconds()
            result = self.make(objects, "paddlejobs", len(objects))
            others = (result["busy"] - result["bed_cpu"] - result["cpu"]
                      - (operator.cpu_seconds() - used))
            time.sleep(1)
            until_running = len(self.audit_log.requests(begin)[0])
            self.wait_for_rest()
            asked = [each for each in self.audit_log.requests(begin)[0]
                     if not audit_log.is_quiet(*each[:2])]
            now, most = operator.memory_mib()
            self.check(name, ns)
            if at is None:
                self.objects[name] = self.learn(ns)
            else:
                self.note(name, at, "operator", result, others=others,
                          operator_cpu=operator.cpu_seconds() - used, rss_mib=now,
                          peak_rss_mib=most, requests=audit_log.count_requests(asked),
                          requests_until_running=until_running)
        self.cluster.clear(ns)

    def leading(self) -> Operator:
        return Operator(self.scratch / "programs/paddle-operator", self.cluster,
                        self.scratch / "operator.log")

    def wait_for_rest(self, limit: float = 120) -> None:
        """Waits until the operator has sent only renewals of leases and watches for REST seconds.
        Reads the audit log, so that the wait itself sends no request."""
        quiet_since = time.monotonic()
        end, position = quiet_since + limit, self.audit_log.end()
        while time.monotonic() < min(end, quiet_since + REST):
            time.sleep(0.5)
            found, position = self.audit_log.requests(position)
            if any(not audit_log.is_quiet(*each[:2]) for each in found):
                quiet_since = time.monotonic()
        if time.monotonic() >= end:
            log(f"  the operator did not come to rest within {limit} s")

    def check(self, name: str, ns: str) -> None:
        """Fails when the result is wrong: then its figures are worthless."""
        pods = self.cluster.list_objects(f"/api/v1/namespaces/{ns}/pods")
        running = sum(each["status"].get("phase") == "Running" for each in pods)
        if (len(pods), running) != (self.pods[name],) * 2:
            raise ToolError(f"{name}: {self.pods[name]} pods were to run; {running} of "
                            f"{len(pods)} run")
        phases = {each.get("status", {}).get("phase")
                  for each in self.cluster.list_objects(JOBS.format(ns))}
        if phases != {"Running"}:
            raise ToolError(f"{name}: jobs are in the phases {phases}")

    def learn(self, ns: str) -> list[Json]:
        made = (job_objects.as_made(kind, each) for kind, each in self.cluster.objects_in(ns))
        return [each for each in made if each]

    def note(self, name: str, at: int | None, subject: str, result: Json, **more: Any) -> None:
        turn = {"scenario": name, "round": at, "subject": subject, **result, **more}
        self.turns.append({key: round(value, 3) if isinstance(value, float) else value
                           for key, value in turn.items()})
        text = (f"  {name} round {at}: {subject} {result['all']:.1f} s "
                f"(created {result['created']:.1f} s)")
        if "requests" in more:
            text += f", {sum(more['requests'].values())} requests"
        log(text)

    # --- at rest ----------------------------------------------------------------------------------

    def rest_with_many_jobs(self) -> Json:
        """Memory, and the requests when nothing happens."""
        plan = self.plan
        log(f"idle: {plan.idle_jobs} jobs, {4 * plan.idle_jobs} pods")
        with self.leading() as operator:
            ns = self.cluster.namespace()
            objects = job_objects.in_namespace(
                job_objects.jobs(plan.idle_jobs, ps=2, worker=2), ns)
            result = self.make(objects, "paddlejobs", len(objects))
            log(f"  all Running after {result['all']:.1f} s")
            self.wait_for_rest()
            begin, used = self.audit_log.end(), operator.cpu_seconds()
            time.sleep(plan.idle_seconds)
            asked, _ = self.audit_log.requests(begin)
            now, most = operator.memory_mib()
            used = operator.cpu_seconds() - used
        with self.leading() as operator:  # a successor finds all jobs at once
            self.wait_for_rest()
            successor, successor_most = operator.memory_mib()
        self.cluster.clear(ns)
        return {"jobs": plan.idle_jobs, "seconds": plan.idle_seconds,
                "running_after": result["all"],
                "cpu": round(used, 3), "requests": audit_log.count_requests(asked),
                "rss_mib": round(now, 1), "peak_rss_mib": round(most, 1),
                "successor_rss_mib": round(successor, 1),
                "successor_peak_rss_mib": round(successor_most, 1)}

    # --- growth -----------------------------------------------------------------------------------

    def grown_to(self, jobs: int) -> Json:
        """What a new operator costs for this many jobs, until it is idle."""
        with self.leading() as operator:
            ns = self.cluster.namespace()
            objects = job_objects.in_namespace(job_objects.jobs(jobs, ps=2, worker=2), ns)
            begin, used = self.audit_log.end(), operator.cpu_seconds()
            result = self.make(objects, "paddlejobs", len(objects))
            self.wait_for_rest()
            asked = [each for each in self.audit_log.requests(begin)[0]
                     if not audit_log.is_quiet(*each[:2])]
            point = {"jobs": jobs, "pods": 4 * jobs, "seconds": round(result["all"], 1),
                     "memory_mib": round(operator.memory_mib()[1], 1),
                     "cpu_seconds": round(operator.cpu_seconds() - used, 2),
                     "requests": len(asked)}
        self.cluster.clear(ns)
        log(f"  server, {jobs} jobs: {point['memory_mib']} MiB, {point['cpu_seconds']} s of a "
            f"processor, {point['requests']} requests, all Running after {point['seconds']} s")
        return point


def describe(plan: argparse.Namespace, cluster: Cluster, took: float) -> dict[str, Any]:
    programs = cluster.layout.programs
    version = {name: Path(programs[name]).parents[1].name
               for name in ("kube-apiserver", "etcd", "kwok")}
    return {**{key: value for key, value in machine.describe(cluster.layout.state).items()
               if key != "disk"},
            "control plane": f"Kubernetes {version['kube-apiserver']}, etcd {version['etcd']} on "
                             f"tmpfs, kwok {version['kwok']} with {FALSE_NODES} nodes",
            "jobs": f"{plan.jobs} of 2 ps and 2 workers; one of {plan.workers} workers; "
            f"{plan.idle_jobs} at rest",
            "rounds": plan.rounds, "connections that create": plan.connections, "seed": plan.seed,
            "took": f"{took:.0f} s"}


def run_curves_in_memory(plan: argparse.Namespace) -> growth.Curve:
    if "memory-curve" not in plan.only:
        return []
    with sandbox.scratch_directory(TOP / "build" / "bench" / "growth-scratch") as scratch:
        programs.collect(plan.programs, scratch / "programs", {"bench": ("grow_cluster",)},
                         "make bench-control")
        return growth.in_memory(scratch / "programs/grow_cluster", plan.memory_sizes, log)


def run(plan: argparse.Namespace) -> int:
    begin = time.monotonic()
    in_memory = run_curves_in_memory(plan)
    if plan.only == ["memory-curve"]:
        print(json.dumps(growth.exponents({"in_memory": in_memory})))
        return 0
    if reason := unsupported_reason():
        raise ToolError(reason)
    with sandbox.scratch_directory(TOP / "build" / "bench" / "control-scratch") as scratch:
        programs.collect(plan.programs, scratch / "programs", PROGRAMS, "make bench-control")
        cluster = Cluster("bench", FALSE_NODES, scratch, first=not plan.polite)
        try:
            log(f"seed {plan.seed}; the cluster is up after {time.monotonic() - begin:.0f} s")
            bench = Bench(plan, cluster, scratch)
            bench.run()
            facts = describe(plan, cluster, time.monotonic() - begin)
        finally:
            cluster.end()
    curves = {"in_memory": in_memory, "server": bench.curve}
    result = control_report.Result(facts, bench.turns, bench.idle,
                                   {name: len(made) for name, made in bench.objects.items()},
                                   plan.jobs, {name: each for name, each in curves.items() if each})
    plan.results.mkdir(parents=True, exist_ok=True)
    stem = plan.results / f"control-{time.strftime('%Y-%m-%d', time.gmtime())}"
    stem.with_suffix(".md").write_text(result.markdown())
    stem.with_suffix(".json").write_text(result.as_json())
    log(f"written: {stem}.md")
    print(json.dumps(result.summary()))
    return 0


def main(argv: list[str]) -> int:
    sandbox.interrupt_on_signals()
    try:
        return run(arguments(argv))
    except ToolError as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
