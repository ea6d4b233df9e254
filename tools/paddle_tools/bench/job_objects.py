# SPDX-License-Identifier: Apache-2.0
"""The PaddleJobs of the control benchmark, and the objects that the floor makes instead. Pure."""
import copy
from typing import Any

from paddle_tools.json_types import Json

GROUP = "batch.paddlepaddle.org/v1"
# Fields that the cluster adds to an object; the floor must not send them.
_ADDED = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation",
          "ownerReferences", "selfLink", "deletionTimestamp", "finalizers")
_ADDED_TO_PODS = ("nodeName", "serviceAccount", "serviceAccountName", "preemptionPolicy",
                  "priority", "tolerations")
_ADDED_TO_SERVICES = ("clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
_TOKEN = "kube-api-access-"
_NOT_OURS = ("kube-root-ca.crt",)


def toleration() -> Json:
    return {"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}


def role(replicas: int, annotations: dict[str, str]) -> Json:
    return {"replicas": replicas, "template": {"metadata": {"annotations": annotations}, "spec": {
        "tolerations": [toleration()],
        "containers": [{"name": "paddle", "image": "paddle:bench",
                        "command": ["python", "train.py"]}]}}}


def job(name: str, waits: bool = False, **replicas: int) -> Json:
    """job("a", ps=2, worker=2). With `waits` the simulated nodes keep pods in their init container
    until the operator releases them."""
    annotations = {"testbed/init-until": "batch.paddlepaddle.org/release"} if waits else {}
    return {"apiVersion": GROUP, "kind": "PaddleJob", "metadata": {"name": name},
            "spec": {"cleanPodPolicy": "Never",
                     **{kind: role(count, annotations) for kind, count in replicas.items()}}}


def jobs(count: int, **what: Any) -> list[Json]:
    return [job(f"job-{number:04}", **what) for number in range(count)]


def in_namespace(objects: list[Json], ns: str) -> list[Json]:
    return [{**each, "metadata": {**each["metadata"], "namespace": ns}} for each in objects]


def as_made(kind: str, found: Json) -> Json | None:
    """An object of the server as its creator would send it; None for one that the cluster made."""
    if found["metadata"]["name"] in _NOT_OURS:
        return None
    made = copy.deepcopy(found)
    made.update(apiVersion="v1", kind=kind)
    made.pop("status", None)
    for field in _ADDED:
        made["metadata"].pop(field, None)
    if kind == "Pod":
        _clean_pod(made["spec"])
    if kind == "Service":
        for field in _ADDED_TO_SERVICES:
            made["spec"].pop(field, None)
    return made


def _clean_pod(spec: Json) -> None:
    for field in _ADDED_TO_PODS:
        spec.pop(field, None)
    spec["tolerations"] = [toleration()]
    spec["volumes"] = [each for each in spec.get("volumes", [])
                       if not each["name"].startswith(_TOKEN)]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        container["volumeMounts"] = [each for each in container.get("volumeMounts", [])
                                     if not each["name"].startswith(_TOKEN)]
