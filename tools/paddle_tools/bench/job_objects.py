# SPDX-License-Identifier: Apache-2.0
"""The PaddleJobs of the control benchmark, and what the floor makes instead of them. Pure."""
import copy

GROUP = "batch.paddlepaddle.org/v1"
# What the API server and others add to an object; the floor must not send it.
_ADDED = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation",
          "ownerReferences", "selfLink", "deletionTimestamp", "finalizers")
_ADDED_TO_PODS = ("nodeName", "serviceAccount", "serviceAccountName", "preemptionPolicy",
                  "priority", "tolerations")
_ADDED_TO_SERVICES = ("clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
_TOKEN = "kube-api-access-"
_NOT_OURS = ("kube-root-ca.crt",)


def toleration():
    return {"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}


def role(replicas, annotations):
    return {"replicas": replicas, "template": {"metadata": {"annotations": annotations}, "spec": {
        "tolerations": [toleration()],
        "containers": [{"name": "paddle", "image": "paddle:bench",
                        "command": ["python", "train.py"]}]}}}


def job(name, waits=False, **replicas):
    """job("a", ps=2, worker=2); the false nodes let pods that wait begin once they are released."""
    annotations = {"testbed/init-until": "batch.paddlepaddle.org/release"} if waits else {}
    return {"apiVersion": GROUP, "kind": "PaddleJob", "metadata": {"name": name},
            "spec": {"cleanPodPolicy": "Never",
                     **{kind: role(count, annotations) for kind, count in replicas.items()}}}


def jobs(count, **what):
    return [job(f"job-{number:04}", **what) for number in range(count)]


def in_namespace(objects, ns):
    return [{**each, "metadata": {**each["metadata"], "namespace": ns}} for each in objects]


def as_made(kind, found):
    """An object as it is on the server, as its maker would send it again; nothing for one that the
    cluster itself made."""
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


def _clean_pod(spec):
    for field in _ADDED_TO_PODS:
        spec.pop(field, None)
    spec["tolerations"] = [toleration()]
    spec["volumes"] = [each for each in spec.get("volumes", [])
                       if not each["name"].startswith(_TOKEN)]
    for container in (*spec["containers"], *spec.get("initContainers", ())):
        container["volumeMounts"] = [each for each in container.get("volumeMounts", [])
                                     if not each["name"].startswith(_TOKEN)]
