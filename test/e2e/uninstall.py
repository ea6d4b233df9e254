# SPDX-License-Identifier: Apache-2.0
"""Uninstalls with the documents' single command while jobs and data sets live; nothing is left."""
import time

from cluster import SYSTEM, TOP, expect

WITH = ("s3",)


def sleeper(name):
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob", "metadata": {"name": name},
            "spec": {"worker": {"replicas": 2, "template": {"spec": {
                "containers": [{"name": "main", "image": "busybox:1.35",
                                "imagePullPolicy": "IfNotPresent", "command": ["sleep", "3600"]}]}}}}}


def data_set(name):
    return {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet",
            "metadata": {"name": name},
            "spec": {"partitions": 1, "source": {"uri": "file:///var/data"}}}


def run(cluster):
    with cluster.step("a job runs; a data set is being made"):
        cluster.apply([sleeper("live"), data_set("samples")], SYSTEM)
        cluster.wait_phase("pdj", "live", "Running", SYSTEM)
        cluster.wait("the data set has objects of its own",
                     lambda: cluster.get("pvc", "samples", SYSTEM), 30)
    start = time.monotonic()
    with cluster.step("kubectl delete -f crd.yaml -f operator.yaml"):
        cluster.kubectl("delete", "-f", TOP / "deploy/v1/crd.yaml",
                        "-f", TOP / "deploy/v1/operator.yaml", limit=120)
        cluster.note(f"took {time.monotonic() - start:.1f} s")
    with cluster.step("nothing is left"):
        cluster.wait("the namespace is gone", lambda: cluster.get("ns", SYSTEM) is None)
        kinds = cluster.kubectl("api-resources", "--verbs=list", "-o", "name").split()
        expect(not [kind for kind in kinds if "paddlepaddle.org" in kind],
               f"there are still kinds of ours: {kinds}")
        for kind in ("clusterroles", "clusterrolebindings", "pv", "csidrivers", "nodes",
                     "validatingwebhookconfigurations", "priorityclasses"):
            for each in cluster.list(kind, ns=None):
                text = str(each["metadata"].get("labels", {})) + each["metadata"]["name"]
                expect("paddle" not in text.replace("juicefs", ""),
                       f"{kind} {each['metadata']['name']} is still there: {text}")
