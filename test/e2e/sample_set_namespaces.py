# SPDX-License-Identifier: Apache-2.0
"""Two SampleSets of one name in two namespaces: each has its own volume, nodes and bytes."""
import json

from paddle_tools.e2e import juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "twin"
SPACES = ("e2e-here", "e2e-there")


def run(cluster):
    with cluster.step("JuiceFS's CSI driver; the managers look at every namespace"):
        sample_sets.install_driver(cluster)
        juicefs.empty_databases(cluster, 12, 13)
        cluster.kubectl("apply", "-k", TOP / "config/overlays/all-namespaces")
        for name in ("paddle-controller-manager", "paddle-sampleset-manager"):
            cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{name}",
                            "--timeout=60s", limit=90)
    try:
        with sample_sets.secret_leak_check(cluster):
            wanted = twins(cluster)
            reads(cluster, wanted)
            one_goes(cluster, wanted)
    finally:
        for ns in SPACES:
            cluster.run("-n", ns, "delete", "sampleset", NAME, "--ignore-not-found", limit=120)
            cluster.run("delete", "namespace", ns, "--ignore-not-found", limit=120)
    with cluster.step("the managers look at their own namespace again"):
        for file in ("v1/operator.yaml", "extensions/controllers.yaml"):
            cluster.apply(TOP / "deploy" / file)
        for who in ("manager", "sampleset", "samplejob"):
            role = cluster.get("clusterrole", f"paddle-{who}-role")
            binding = cluster.get("clusterrolebinding", f"paddle-{who}-rolebinding")
            expect(not role.get("rules") and not binding.get("subjects"),
                   f"{who} still has rights everywhere: {json.dumps([role, binding])}")


def twins(cluster):
    wanted = {}
    with cluster.step("a set of the same name in each; both Ready"):
        for at, ns in enumerate(SPACES):
            wanted[ns] = sample_sets.put_samples(cluster, ns, 20 + 5 * at, seed=10 + at)
            cluster.kubectl("create", "namespace", ns)
            cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                           sample_sets.s3_volume(cluster, NAME, f"set-{ns}", 12 + at),
                           sample_sets.sample_set(NAME, NAME, ns)], ns)
        for ns in SPACES:
            sample_sets.wait_ready(cluster, NAME, ns)
        names = {cluster.get("pvc", NAME, ns)["spec"]["volumeName"] for ns in SPACES}
        expect(len(names) == 2, f"they share a volume: {names}")
    return wanted


def reads(cluster, wanted):
    with cluster.step("a job in each reads its own namespace's bytes"):
        for ns in SPACES:
            cluster.apply([sample_sets.reader("reads", NAME)], ns)
        for ns in SPACES:
            sample_sets.read_all(cluster, "reads", wanted[ns], ns)
            cluster.kubectl("-n", ns, "delete", "pdj", "reads")


def one_goes(cluster, wanted):
    here, there = SPACES
    with cluster.step("one is deleted: the other stays Ready, keeps its nodes and reads on"):
        before = labels(cluster)
        sample_sets.delete(cluster, NAME, here)
        after = labels(cluster)
        expect(len(after) < len(before), f"no label went: {json.dumps(after)}")
        expect(after, "the other set's label went too")
        sample_sets.wait_ready(cluster, NAME, there)
        cluster.apply([sample_sets.reader("again", NAME)], there)
        sample_sets.read_all(cluster, "again", wanted[there], there)
        cluster.kubectl("-n", there, "delete", "pdj", "again")


def labels(cluster):
    """The labels by which workers find nodes, of any set."""
    return [(node["metadata"]["name"], key) for node in cluster.list("nodes", ns=None)
            for key in node["metadata"]["labels"] if key.startswith("paddlepaddle.org/cache-")]
