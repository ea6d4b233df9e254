# SPDX-License-Identifier: Apache-2.0
"""PaddleJobs as users write them, and their state."""
import json
from typing import Any

from paddle_tools.e2e.cluster import SYSTEM, Cluster, expect
from paddle_tools.json_types import Json


def paddle_job(name: str, roles: dict[str, tuple[int, Json]], **spec: Any) -> Json:
    """`roles`: {role: (replicas, pod spec)}."""
    parts = {role: {"replicas": replicas, "template": {"spec": pod}}
             for role, (replicas, pod) in roles.items()}
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": name}, "spec": {"cleanPodPolicy": "Never", **spec, **parts}}


def shell_pod(script: str, **more: Any) -> Json:
    """A pod spec with the test bed's busybox image."""
    return {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": "busybox:1.35",
                            "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script],
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}], **more}


def pods(cluster: Cluster, job: str, ns: str = SYSTEM) -> dict[str, Json]:
    """The pods of a job, by name."""
    return {each["metadata"]["name"]: each for each in cluster.list(
        "pods", ns, f"batch.paddlepaddle.org/job-name={job}")}


def condition(cluster: Cluster, job: str, kind: str, ns: str = SYSTEM) -> Json | None:
    """The condition of a job, or None."""
    status = (cluster.get("pdj", job, ns) or {}).get("status", {})
    return next((each for each in status.get("conditions", []) if each["type"] == kind), None)


def reports(cluster: Cluster, pod: str, ns: str = SYSTEM) -> list[Json]:
    """The reports in a trainer's log, lines RESULT {...}, in order."""
    lines = cluster.kubectl("-n", ns, "logs", pod).splitlines()
    found = [json.loads(line.partition("RESULT ")[2]) for line in lines
             if line.startswith("RESULT ")]
    expect(found, f"{pod} reported nothing: {lines[-10:]}")
    return found


def suspend(cluster: Cluster, job: str, value: bool, ns: str = SYSTEM) -> None:
    cluster.kubectl("-n", ns, "patch", "pdj", job, "--type=merge", "-p",
                    json.dumps({"spec": {"suspend": value}}))


def delete(cluster: Cluster, job: str, ns: str = SYSTEM) -> None:
    """Deletes a job; waits until its pods are gone."""
    cluster.kubectl("-n", ns, "delete", "pdj", job, "--ignore-not-found")
    cluster.wait(f"no pod of {job} is left", lambda: not pods(cluster, job, ns))
