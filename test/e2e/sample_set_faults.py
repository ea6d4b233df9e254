# SPDX-License-Identifier: Apache-2.0
"""A SampleSet lives through what breaks: its operator, its runtimes, its nodes; and a deletion."""
import json
import threading
import time

from paddle_tools.e2e import jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "tough"
MANAGER = "control-plane=sampleset-manager"


def run(cluster):
    with sample_sets.secret_leak_check(cluster):
        with cluster.step("JuiceFS's CSI driver, and samples"):
            wanted = sample_sets.begin(cluster, NAME, 15, count=150, seed=4, wait=False)
        operator_restarts_in_every_phase(cluster)
        runtime_is_killed(cluster)
        node_is_killed(cluster, wanted)
        deleted_under_a_job(cluster)


def operator_restarts_in_every_phase(cluster):
    with cluster.step("its operator is killed whenever the phase changes: Ready all the same"):
        seen, end = [], threading.Event()

        def kill_at_every_phase():
            while not end.wait(0.2):
                status = (cluster.get("sampleset", NAME, SYSTEM) or {}).get("status", {})
                phase = status.get("phase", "")
                if phase not in seen:
                    seen.append(phase)
                    cluster.run("-n", SYSTEM, "delete", "pod", "-l", MANAGER, "--grace-period=0",
                                "--force", "--wait=false")
        watcher = threading.Thread(target=kill_at_every_phase, daemon=True)
        watcher.start()
        try:
            cluster.apply([sample_sets.sample_set(NAME, NAME, NAME, 2)], SYSTEM)
            sample_sets.wait_ready(cluster, NAME, partitions=2, limit=300)
        finally:
            end.set()
            watcher.join()
        cluster.note(f"killed in the phases {seen}")
        ids = cluster.get("sampleset", NAME, SYSTEM)["status"].get("jobsName", {})
        expect(ids.get("syncJobName"), f"no id of the sync: {json.dumps(ids)}")


def runtime_is_killed(cluster):
    with cluster.step("a runtime is killed with -9: it comes back, and no cache is lost"):
        places = {part: node for node, part in sample_sets.labelled(cluster, NAME).items()}
        before = cached(cluster)
        cluster.on(places[0], "sh", "-c", "kill -9 $(pidof paddle-cache)")
        cluster.wait("its container runs again", lambda: juicefs.restarts(
            cluster.get("pod", f"{NAME}-runtime-0", SYSTEM), "runtime") > 0)
        sample_sets.wait_ready(cluster, NAME, partitions=2)
        expect(cached(cluster) >= before, f"{before} bytes were cached, now {cached(cluster)}")


def node_is_killed(cluster, wanted):
    places = {part: node for node, part in sample_sets.labelled(cluster, NAME).items()}
    number = places[1].removeprefix("node")
    with cluster.step("a node loses power: Degraded; its part goes elsewhere and is warm again"):
        start = time.monotonic()
        cluster.testbed("node-kill", number)
        try:
            cluster.wait("Degraded", lambda: (sample_sets.condition(
                cluster, NAME, "Degraded") or {}).get("status") == "True", 30)
            cluster.note(f"Degraded after {time.monotonic() - start:.1f} s: "
                         f"{sample_sets.condition(cluster, NAME, 'Degraded')['message']}")
            cluster.wait("its label is gone", lambda: places[1] not in sample_sets.labelled(
                cluster, NAME), 30)
            cluster.note(f"no label after {time.monotonic() - start:.1f} s")
            cluster.wait("its part is elsewhere", lambda: sorted(sample_sets.labelled(
                cluster, NAME).values()) == [0, 1], 90)
            sample_sets.wait_ready(cluster, NAME, partitions=2)
            cluster.note(f"Ready again after {time.monotonic() - start:.1f} s")
            cluster.apply([sample_sets.reader("after", NAME, 2)], SYSTEM)
            for worker in range(2):
                sample_sets.read_all(cluster, "after", wanted, worker=worker)
            jobs.delete(cluster, "after")
        finally:
            cluster.testbed("node-start", number)
    with cluster.step("the node comes back: everything goes on"):
        cluster.wait("all nodes know the driver", lambda: juicefs.registered(
            cluster) == juicefs.nodes(cluster), 120)
        sample_sets.wait_ready(cluster, NAME, partitions=2)


def deleted_under_a_job(cluster):
    with cluster.step("deleted while a job uses it: what it reads is held back, and says for whom"):
        cluster.apply([sample_sets.reader("holds", NAME, then="sleep 1000")], SYSTEM)
        cluster.wait_phase("pdj", "holds", "Running", SYSTEM, 120)
        cluster.wait("the claim is the job's too", lambda: any(
            owner["name"] == "holds" for owner in cluster.get(
                "pvc", NAME, SYSTEM)["metadata"]["ownerReferences"]))
        cluster.kubectl("-n", SYSTEM, "delete", "sampleset", NAME, "--wait=false")
        cluster.note(cluster.wait("an event that names the job", lambda: held_back(cluster)))
        time.sleep(5)  # longer than the garbage collector needs for objects without owner
        for kind, name in (("pvc", NAME), ("statefulset", f"{NAME}-runtime")):
            found = cluster.get(kind, name, SYSTEM)
            expect(found and "deletionTimestamp" not in found["metadata"], f"its {kind} went")
        cluster.kubectl("-n", SYSTEM, "exec", "holds-worker-0", "--", "ls", "/mnt/samples/train")
    with cluster.step("the job goes: the set and all that belongs to it follow"):
        jobs.delete(cluster, "holds")
        sample_sets.gone(cluster, NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME)


def held_back(cluster):
    for event in cluster.list("events", SYSTEM):
        if event["reason"] == "DeletionHeldBack" and " holds ends" in event["message"]:
            return event["message"]
    return None


def cached(cluster):
    status = cluster.get("sampleset", NAME, SYSTEM)["status"]
    return status.get("cacheStatus", {}).get("cachedBytes", 0)
