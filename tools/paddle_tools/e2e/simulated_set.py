# SPDX-License-Identifier: Apache-2.0
"""A SampleSet whose status the scenario writes, to decide how warm its data is.

The manager of SampleSets is stopped meanwhile, so that it does not overwrite the status.
"""
import contextlib
import json
from collections.abc import Iterator

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, Cluster
from paddle_tools.json_types import Json

SET = "slow"
PLACES = {"node3": 0, "node2": 1}  # node: partition


@contextlib.contextmanager
def create(cluster: Cluster) -> Iterator[None]:
    """A data set of two partitions; warm() sets how warm they are."""
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


def label() -> str:
    return f"paddlepaddle.org/samplefs-{SET}"


def data_set() -> list[Json]:
    size = {"storage": "1Gi"}
    return [
        {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet",
         "metadata": {"name": SET},
         "spec": {"partitions": 2, "source": {"uri": "s3://samples/images"}}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": SET},
         "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "",
                  "hostPath": {"path": "/usr/share"}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
         "metadata": {"name": SET, "labels": {"batch.paddlepaddle.org/sampleset": SET}},
         "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": SET,
                  "resources": {"requests": size}}}]


def warm(cluster: Cluster, *percents: int, phase: str = "Ready", why: str | None = None) -> None:
    """Writes the status: how warm each partition is. `why`: uncachedReason of all partitions."""
    generation = cluster.get("sampleset", SET, SYSTEM)["metadata"]["generation"]
    status = {"phase": phase, "engine": "samplefs", "observedGeneration": generation,
              "partitions": [
        {"index": index, "totalBytes": 1000, "cachedBytes": 10 * percent, "ready": True,
         **({"uncachedReason": why} if why else {})}
        for index, percent in enumerate(percents)]}
    cluster.kubectl("-n", SYSTEM, "patch", "sampleset", SET, "--subresource=status", "--type=merge",
                    "-p", json.dumps({"status": status}))


def gated(cluster: Cluster, name: str) -> list[Json]:
    """The pods of a job that have a scheduling gate and no node."""
    return [pod for pod in jobs.pods(cluster, name).values()
            if pod["spec"].get("schedulingGates") and not pod["spec"].get("nodeName")]
