# SPDX-License-Identifier: Apache-2.0
"""The operator, installed from deploy/ as the documents say."""
from paddle_tools.e2e.cluster import SYSTEM, TOP, Cluster, expect

MANAGERS = ("paddle-controller-manager", "paddle-samplejob-manager", "paddle-sampleset-manager")


def install(cluster: Cluster) -> None:
    with cluster.step("our images on every node"):
        cluster.load("paddle-operator", "paddle-cache")
    with cluster.step("kubectl apply -f crd.yaml, operator.yaml, controllers.yaml"):
        for file in ("v1/crd.yaml", "v1/operator.yaml", "extensions/controllers.yaml"):
            cluster.apply(TOP / "deploy" / file)
        crds = cluster.kubectl("get", "crd", "-o", "name")
        for kind in ("paddlejobs", "samplejobs", "samplesets"):
            expect(f"{kind}.batch.paddlepaddle.org" in crds, f"there is no CRD of {kind}: {crds}")
    with cluster.step("the three managers run"):
        for manager in MANAGERS:
            cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{manager}",
                            "--timeout=60s", limit=90)
        shown = cluster.kubectl("-n", SYSTEM, "get", "pods")
        for manager in MANAGERS:
            expect(any(line.startswith(manager) and " 1/1 " in line and "Running" in line
                       for line in shown.splitlines()), f"{manager} is not Running:\n{shown}")
    with cluster.step("applying again changes nothing"):
        for file in ("v1/crd.yaml", "v1/operator.yaml", "extensions/controllers.yaml"):
            before = budget_versions(cluster)
            output = cluster.apply(TOP / "deploy" / file)
            changed = [line for line in output.splitlines() if not line.endswith("unchanged")]
            # kubectl sends the selector of a budget with every apply, and calls that configured.
            if budget_versions(cluster) == before:
                changed = [line for line in changed if not line.startswith("poddisruptionbudget.")]
            expect(not changed, f"{file} was not applied as it is: {changed}")


def budget_versions(cluster: Cluster) -> str:
    fields = "{.metadata.name} {.metadata.generation};"
    return cluster.kubectl("-n", SYSTEM, "get", "poddisruptionbudgets", "-o",
                           "jsonpath={range .items[*]}" + fields + "{end}")
