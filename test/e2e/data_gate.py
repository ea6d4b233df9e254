# SPDX-License-Identifier: Apache-2.0
"""Workers wait for their data without holding a node, then start beside it, all together.

How warm the data is, is said here, in the SampleSet's status, with its manager at rest: what is
shown is what the job does about it.
"""
import contextlib
import json
import time

import jobs
from cluster import SYSTEM, expect

SET = "slow"
PLACES = {"node3": 0, "node2": 1}  # node: partition


def run(cluster):
    with told_set(cluster):
        waits_and_starts(cluster)
        gives_up_waiting(cluster)
        starts_at_capacity(cluster)
        waits_for_the_first_sync(cluster)
        is_let_go(cluster)


@contextlib.contextmanager
def told_set(cluster):
    """A data set of which warm() says how warm it is; its manager rests meanwhile."""
    cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-sampleset-manager", "--replicas=0")
    try:
        with cluster.step("a data set of two partitions, a tenth of it warm"):
            cluster.apply(data_set(), SYSTEM)
            for node, partition in PLACES.items():
                cluster.kubectl("label", "node", node, f"{label()}={SET}-runtime-{partition}")
            warm(cluster, 10, 10)
        yield
    finally:
        for node in PLACES:
            cluster.run("label", "node", node, f"{label()}-")
        for kind in ("sampleset", "pvc"):
            cluster.run("-n", SYSTEM, "delete", kind, SET, "--ignore-not-found")
        cluster.run("delete", "pv", SET, "--ignore-not-found")
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-sampleset-manager",
                        "--replicas=1")


def label():
    return f"paddlepaddle.org/samplefs-{SET}"


def data_set():
    size = {"storage": "1Gi"}
    return [
        {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet",
         "metadata": {"name": SET}, "spec": {"partitions": 2, "source": {"uri": "file:///usr/share"}}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": SET},
         "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "",
                  "hostPath": {"path": "/usr/share"}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": SET},
         "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": SET,
                  "resources": {"requests": size}}}]


def warm(cluster, *percents, phase="Ready", why=None):
    """`why`: uncachedReason of all partitions."""
    generation = cluster.get("sampleset", SET, SYSTEM)["metadata"]["generation"]
    status = {"phase": phase, "engine": "samplefs", "observedGeneration": generation, "partitions": [
        {"index": index, "totalBytes": 1000, "cachedBytes": 10 * percent, "ready": True,
         **({"uncachedReason": why} if why else {})}
        for index, percent in enumerate(percents)]}
    cluster.kubectl("-n", SYSTEM, "patch", "sampleset", SET, "--subresource=status", "--type=merge",
                    "-p", json.dumps({"status": status}))


def reader(name, gate):
    pod = jobs.shell_pod("ls /samples >/dev/null && sleep 2", restartPolicy="Never")
    return jobs.paddle_job(name, {"worker": (2, pod)}, sampleSetRef={
        "name": SET, "mountPath": "/samples", "readOnly": True, "gate": gate})


def gated(cluster, name):
    """Pods that wait before the scheduler looks at them."""
    return [pod for pod in jobs.pods(cluster, name).values()
            if pod["spec"].get("schedulingGates") and not pod["spec"].get("nodeName")]


def waits_and_starts(cluster):
    name = "reads"
    with cluster.step("its pods are there, but hold no node; the job says how warm the data is"):
        cluster.apply([reader(name, {"warmPercent": 80})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(gated(cluster, name)) == 2)
        said = cluster.wait("a reason", lambda: jobs.condition(cluster, name, "Ready"))
        cluster.note(said["message"])
        expect("10 %" in said["message"], f"it says: {said}")
    with cluster.step("one partition is warm: both still wait"):
        warm(cluster, 100, 79)
        cluster.wait("the job has seen it",
                     lambda: "79 %" in jobs.condition(cluster, name, "Ready")["message"])
        expect(len(gated(cluster, name)) == 2, "a pod started before its peer's data")
    with cluster.step("both are: each worker starts on its partition's node"):
        start = time.monotonic()
        warm(cluster, 100, 80)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        cluster.note(f"from the last byte to the job's end: {time.monotonic() - start:.1f} s")
        found = jobs.pods(cluster, name)
        for node, partition in PLACES.items():
            pod = found[f"{name}-worker-{partition}"]
            expect(pod["spec"]["nodeName"] == node,
                   f"worker {partition} is on {pod['spec']['nodeName']}, its data on {node}")
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status.get("sampleSet", {}).get("name") == SET, f"no data in its status: {status}")
        jobs.delete(cluster, name)


def gives_up_waiting(cluster):
    name = "hurries"
    with cluster.step("a job with a timeout starts without its data when it has passed"):
        warm(cluster, 5, 5)
        cluster.apply([reader(name, {"warmPercent": 90, "timeoutSeconds": 4})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(gated(cluster, name)) == 2)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        cold = jobs.condition(cluster, name, "DataWarm")
        expect(cold and cold["status"] == "False" and cold["reason"] == "DataGateTimedOut",
               f"it does not say that it was started without its data: {cold}")
        jobs.delete(cluster, name)


def starts_at_capacity(cluster):
    for name, why, reason in (("full", "NoRoom", "NoRoom"), ("cleared", "Cleared", "CacheCleared")):
        with cluster.step(f"partitions that are as warm as they can be ({why}) open the gate"):
            warm(cluster, 60, 60, why=why)
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
        warm(cluster, 0, 0, phase="SyncFailed")
        cluster.apply([reader(name, {"timeoutSeconds": 1})], SYSTEM)
        cluster.wait("two gated pods", lambda: len(gated(cluster, name)) == 2)
        said = cluster.wait("a reason", lambda: (
            found := jobs.condition(cluster, name, "Ready")) and
            found["reason"] == "SampleSetNotSynced" and found)
        cluster.note(said["message"])
        time.sleep(12)  # longer than the timeout, and than it takes to look at the gate again
        expect(len(gated(cluster, name)) == 2, "a pod started before the first sync")
    with cluster.step("it is synced: the job starts, its time is up"):
        warm(cluster, 0, 0)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        jobs.delete(cluster, name)


def is_let_go(cluster):
    """Of the steps the last: the set has one partition afterwards."""
    name, worker, place = "shrinks", "shrinks-worker-1", "node2"
    cluster.kubectl("cordon", place)
    try:
        with cluster.step("a worker that waits for the node of its partition, where no pod may go"):
            warm(cluster, 100, 100)
            cluster.apply([reader(name, {})], SYSTEM)
            cluster.wait("it cannot be scheduled", lambda: unschedulable(cluster, worker))
        with cluster.step("the set has that partition no more: the worker runs elsewhere"):
            cluster.kubectl("-n", SYSTEM, "patch", "sampleset", SET, "--type=merge", "-p",
                            json.dumps({"spec": {"partitions": 1}}))
            cluster.kubectl("label", "node", place, f"{label()}-")  # as the set's manager does
            warm(cluster, 100)
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
