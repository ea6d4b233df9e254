# SPDX-License-Identifier: Apache-2.0
"""The managers use every right that they have, and no request of theirs is refused."""
from pathlib import Path

from paddle_tools.e2e import rbac
from paddle_tools.e2e.cluster import SYSTEM, ScenarioFailed, expect

IMAGE = "busybox:1.35"
RUNS_LAST = True


def job(name, command, **spec):
    container = {"name": "main", "image": IMAGE, "imagePullPolicy": "IfNotPresent",
                 "command": command}
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": name},
            "spec": {"worker": {"replicas": 2, "template": {"spec": {"containers": [container]}}},
                     **spec}}


def sample_set(name):
    return {"apiVersion": "batch.paddlepaddle.org/v1alpha1", "kind": "SampleSet",
            "metadata": {"name": name},
            "spec": {"partitions": 1, "source": {"uri": "s3://samples/images"}}}


def run(cluster):
    with cluster.step("a job with Services ends, is cleaned up and goes when its time has passed"):
        cluster.apply([job("rights-ends", ["true"], intranet="Service",
                           ttlSecondsAfterFinished=2)], SYSTEM)
        cluster.wait_gone("pdj", "rights-ends", SYSTEM, limit=120)
        cluster.wait("its pods are gone", lambda: not named(cluster, "pods", "rights-ends"))
    with cluster.step("a data set is made, used and removed, with its volume"):
        cluster.apply([sample_set("rights"),
                       job("rights-reads", ["true"],
                           sampleSetRef={"name": "rights", "mountPath": "/data"})], SYSTEM)
        cluster.wait("it has a volume", lambda: volumes(cluster, "rights"))
        cluster.kubectl("-n", SYSTEM, "delete", "pdj", "rights-reads")
        cluster.kubectl("-n", SYSTEM, "delete", "sampleset", "rights")
        cluster.wait("its volume is gone", lambda: not volumes(cluster, "rights"), 120)
    for account, rare in rbac.RARE.items():
        with cluster.step(f"rights of {account}"):
            judge(cluster, account, rare)


def named(cluster, kind, start):
    return [each for each in cluster.list(kind, SYSTEM)
            if each["metadata"]["name"].startswith(start)]


def volumes(cluster, name):
    return cluster.list("pv", None, f"batch.paddlepaddle.org/sampleset={name}")


def judge(cluster, account, rare):
    roles = cluster.list("roles", None) + cluster.list("clusterroles", None)
    bindings = cluster.list("rolebindings", None) + cluster.list("clusterrolebindings", None)
    name = rbac.account_name(SYSTEM, account)
    granted = rbac.granted(roles, bindings, name)
    expect(granted, f"{account} has no rights at all")
    log = Path(cluster.kubeconfig).parent / "audit.log"
    installed = max(each["metadata"]["creationTimestamp"] for each
                    in cluster.list("deploy", SYSTEM))
    with open(log, encoding="utf-8") as lines:
        requested = rbac.requested(lines, name, since=installed)
    cluster.note(f"{len(granted)} rights, {len(requested.used)} used")
    if found := rbac.problems(granted, requested, rare):
        raise ScenarioFailed(f"{account}: " + "\n".join(found))
