# SPDX-License-Identifier: Apache-2.0
"""What an installation leaves in a cluster after its end."""
import json

from paddle_tools.e2e.cluster import Cluster, ScenarioFailed

# Kinds whose objects outlive what they speak of, by design of the cluster.
MEMORIES = {"events", "events.events.k8s.io", "componentstatuses"}
# Mount pods are the CSI driver's, and called after the volume; it ends them when it comes to it,
# minutes after their last user.
DRIVERS = "juicefs-mount"


def wait_for_none(cluster: Cluster, limit: float = 60) -> None:
    """Waits until no object of the cluster speaks of us."""
    def none() -> bool:
        if found := ours(cluster):
            raise ScenarioFailed(f"there is still {', '.join(found[:10])}")
        return True
    cluster.wait("nothing of ours is left", none, limit)


def ours(cluster: Cluster) -> list[str]:
    """Every object of the cluster, of any kind, whose name, labels or finalizers speak of us."""
    kinds = cluster.kubectl("api-resources", "--verbs=list", "-o", "name").split()
    wanted = ",".join(sorted(set(kinds) - MEMORIES))
    code, text, error = cluster.run("get", wanted, "-A", "-o", "json")
    if code != 0:  # a kind that has gone in between
        raise ScenarioFailed(error.strip())
    found = []
    for each in json.loads(text)["items"]:
        meta = each["metadata"]
        if meta.get("labels", {}).get("app.kubernetes.io/name") == DRIVERS:
            continue
        said = json.dumps([meta["name"], meta.get("labels", {}), meta.get("finalizers", [])])
        if "paddle" in said:
            place = f"{meta['namespace']}/" if "namespace" in meta else ""
            found.append(f"{each['kind']} {place}{meta['name']}")
    return sorted(found)
