# SPDX-License-Identifier: Apache-2.0
"""Workers wait for their data without holding a node, then start beside it, all together.

How warm the data is, is said here, in the SampleSet's status, with its manager at rest: what is
shown is what the job does about it.
"""
import json
import time

from paddle_tools.e2e import jobs, simulated_set
from paddle_tools.e2e.cluster import SYSTEM, expect


def run(cluster):
    with simulated_set.create(cluster):
        waits_and_starts(cluster)
        gives_up_waiting(cluster)
        starts_at_capacity(cluster)
        waits_for_the_first_sync(cluster)
        is_let_go(cluster)


def reader(name, gate):
    pod = jobs.shell_pod("ls /samples >/dev/null && sleep 2", restartPolicy="Never")
    return jobs.paddle_job(name, {"worker": (2, pod)}, sampleSetRef={
        "name": simulated_set.SET, "mountPath": "/samples", "readOnly": True, "gate": gate})


def waits_and_starts(cluster):
    name = "reads"
    with cluster.step("its pods are there, but hold no node; the job says how warm the data is"):
        cluster.apply([reader(name, {"warmPercent": 80})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(simulated_set.gated(cluster, name)) == 2)
        said = cluster.wait("a reason", lambda: jobs.condition(cluster, name, "Ready"))
        cluster.note(said["message"])
        expect("10 %" in said["message"], f"it says: {said}")
    with cluster.step("one partition is warm: both still wait"):
        simulated_set.warm(cluster, 100, 79)
        cluster.wait("the job has seen it",
                     lambda: "79 %" in jobs.condition(cluster, name, "Ready")["message"])
        expect(len(simulated_set.gated(cluster, name)) == 2, "a pod started before its peer's data")
    with cluster.step("both are: each worker starts on its partition's node"):
        start = time.monotonic()
        simulated_set.warm(cluster, 100, 80)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        cluster.note(f"from the last byte to the job's end: {time.monotonic() - start:.1f} s")
        found = jobs.pods(cluster, name)
        for node, partition in simulated_set.PLACES.items():
            pod = found[f"{name}-worker-{partition}"]
            expect(pod["spec"]["nodeName"] == node,
                   f"worker {partition} is on {pod['spec']['nodeName']}, its data on {node}")
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status.get("sampleSet", {}).get("name") == simulated_set.SET,
               f"no data in its status: {status}")
        jobs.delete(cluster, name)


def gives_up_waiting(cluster):
    name = "hurries"
    with cluster.step("a job with a timeout starts without its data when it has passed"):
        simulated_set.warm(cluster, 5, 5)
        cluster.apply([reader(name, {"warmPercent": 90, "timeoutSeconds": 4})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(simulated_set.gated(cluster, name)) == 2)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        cold = jobs.condition(cluster, name, "DataWarm")
        expect(cold and cold["status"] == "False" and cold["reason"] == "DataGateTimedOut",
               f"it does not say that it was started without its data: {cold}")
        jobs.delete(cluster, name)


def starts_at_capacity(cluster):
    for name, why, reason in (("full", "NoRoom", "NoRoom"), ("cleared", "Cleared", "CacheCleared")):
        with cluster.step(f"partitions that are as warm as they can be ({why}) open the gate"):
            simulated_set.warm(cluster, 60, 60, why=why)
            cluster.apply([reader(name, {})], SYSTEM)
            cluster.wait_phase("pdj", name, "Completed", SYSTEM)
            said = jobs.condition(cluster, name, "DataWarm")
            expect(said and said["status"] == "False" and said["reason"] == reason
                   and "60 %" in said["message"], f"it does not say what is missing: {said}")
            cluster.note(said["message"])
            jobs.delete(cluster, name)


def waits_for_the_first_sync(cluster):
    name = "eager"
    with cluster.step("no timeout starts a job before the first sync of its set"):
        simulated_set.warm(cluster, 0, 0, phase="SyncFailed")
        cluster.apply([reader(name, {"timeoutSeconds": 1})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(simulated_set.gated(cluster, name)) == 2)
        said = cluster.wait("a reason", lambda: (
            found := jobs.condition(cluster, name, "Ready")) and
            found["reason"] == "SampleSetNotSynced" and found)
        cluster.note(said["message"])
        time.sleep(12)  # longer than the timeout, and than it takes to look at the gate again
        expect(len(simulated_set.gated(cluster, name)) == 2, "a pod started before the first sync")
    with cluster.step("it is synced: the job starts, its time is up"):
        simulated_set.warm(cluster, 0, 0)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        jobs.delete(cluster, name)


def is_let_go(cluster):
    """Of the steps the last: the set has one partition afterwards."""
    name, worker, place = "shrinks", "shrinks-worker-1", "node2"
    cluster.kubectl("cordon", place)
    try:
        with cluster.step("a worker that waits for the node of its partition, where no pod may go"):
            simulated_set.warm(cluster, 100, 100)
            cluster.apply([reader(name, {})], SYSTEM)
            cluster.wait("it cannot be scheduled", lambda: unschedulable(cluster, worker))
        with cluster.step("the set has that partition no more: the worker runs elsewhere"):
            cluster.kubectl("-n", SYSTEM, "patch", "sampleset", simulated_set.SET, "--type=merge",
                            "-p",
                            json.dumps({"spec": {"partitions": 1}}))
            cluster.kubectl("label", "node", place,
                            f"{simulated_set.label()}-")  # as the set's manager does
            simulated_set.warm(cluster, 100)
            cluster.wait_phase("pdj", name, "Completed", SYSTEM)
            found = jobs.pods(cluster, name)[worker]["spec"]["nodeName"]
            expect(found != place, f"{worker} is on {found}, which takes no pods")
            jobs.delete(cluster, name)
    finally:
        cluster.kubectl("uncordon", place)


def unschedulable(cluster, pod):
    status = (cluster.get("pod", pod, SYSTEM) or {}).get("status", {})
    return any(each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
               for each in status.get("conditions", []))
