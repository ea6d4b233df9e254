# SPDX-License-Identifier: Apache-2.0
"""Uninstalls with the documents' single command while jobs and data sets live; nothing is left.

The managers look at every namespace by then, which gives them the most that they can have.
"""
import time

from paddle_tools.e2e import installation, leftovers
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect

WITH = ("s3",)
ELSEWHERE = "e2e-elsewhere"
OVERLAY = TOP / "config/overlays/all-namespaces"


def sleeper(name):
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": name},
            "spec": {"worker": {"replicas": 2, "template": {"spec": {
                "containers": [{"name": "main", "image": "busybox:1.35",
                                "imagePullPolicy": "IfNotPresent",
                                "command": ["sleep", "3600"]}]}}}}}


def data_set(name):
    return {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet",
            "metadata": {"name": name},
            "spec": {"partitions": 1, "source": {"uri": "s3://samples/images"}}}


def run(cluster):
    with cluster.step("the garbage collector knows our kinds; it looks for new ones every 30 s"):
        cluster.apply([sleeper("collected")], SYSTEM)
        cluster.wait_phase("pdj", "collected", "Running", SYSTEM)
        cluster.kubectl("-n", SYSTEM, "delete", "pdj", "collected")
        cluster.wait("its pods are gone", lambda: cluster.get(
            "pod", "collected-worker-0", SYSTEM) is None, 120)
    with cluster.step("the managers look at every namespace"):
        cluster.kubectl("apply", "-k", OVERLAY)
        for manager in installation.MANAGERS:
            cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{manager}",
                            "--timeout=90s", limit=120)
    with cluster.step("jobs run in two namespaces; a data set is being made"):
        cluster.kubectl("create", "namespace", ELSEWHERE)
        cluster.apply([sleeper("far")], ELSEWHERE)
        cluster.apply([sleeper("live"), data_set("samples")], SYSTEM)
        cluster.wait_phase("pdj", "live", "Running", SYSTEM)
        cluster.wait_phase("pdj", "far", "Running", ELSEWHERE)
        cluster.wait("the data set has objects of its own",
                     lambda: cluster.get("pvc", "samples", SYSTEM), 30)
        found = leftovers.ours(cluster)
        cluster.note(f"{len(found)} objects carry our name")
        # If they were not found now, finding none afterwards would prove nothing.
        for each in ("ClusterRole paddle-manager-role", f"Pod {ELSEWHERE}/far-worker-0",
                     "ClusterRoleBinding paddle-manager-rolebinding", f"Namespace {SYSTEM}",
                     f"Deployment {SYSTEM}/{installation.MANAGERS[0]}",
                     "CustomResourceDefinition paddlejobs.batch.paddlepaddle.org"):
            expect(each in found, f"the list of what is ours lacks {each}")
    start = time.monotonic()
    with cluster.step("kubectl delete -f crd.yaml -f operator.yaml"):
        cluster.kubectl("delete", "-f", TOP / "deploy/v1/crd.yaml",
                        "-f", TOP / "deploy/v1/operator.yaml", limit=120)
        cluster.note(f"took {time.monotonic() - start:.1f} s")
    with cluster.step("nothing is left"):
        cluster.wait("the namespace is gone", lambda: cluster.get("ns", SYSTEM) is None)
        leftovers.wait_for_none(cluster)
        cluster.kubectl("delete", "namespace", ELSEWHERE, limit=60)
