# SPDX-License-Identifier: Apache-2.0
"""PaddleJobs as users write them, and what is seen of them."""
import json

from paddle_tools.e2e.cluster import SYSTEM, expect


def paddle_job(name, roles, **spec):
    """`roles`: part -> (replicas, pod spec)."""
    parts = {role: {"replicas": replicas, "template": {"spec": pod}}
             for role, (replicas, pod) in roles.items()}
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": name}, "spec": {"cleanPodPolicy": "Never", **spec, **parts}}


def shell_pod(script, **more):
    """A pod of the bed's own small image."""
    return {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": "busybox:1.35",
                            "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script],
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}], **more}


def pods(cluster, job, ns=SYSTEM):
    """By name."""
    return {each["metadata"]["name"]: each for each in cluster.list(
        "pods", ns, f"batch.paddlepaddle.org/job-name={job}")}


def condition(cluster, job, kind, ns=SYSTEM):
    """The condition of a job, or nothing."""
    status = (cluster.get("pdj", job, ns) or {}).get("status", {})
    return next((each for each in status.get("conditions", []) if each["type"] == kind), None)


def reports(cluster, pod, ns=SYSTEM):
    """What a trainer has said in lines RESULT {...}, in order."""
    lines = cluster.kubectl("-n", ns, "logs", pod).splitlines()
    found = [json.loads(line.partition("RESULT ")[2]) for line in lines if line.startswith("RESULT ")]
    expect(found, f"{pod} reported nothing: {lines[-10:]}")
    return found


def suspend(cluster, job, value, ns=SYSTEM):
    cluster.kubectl("-n", ns, "patch", "pdj", job, "--type=merge", "-p",
                    '{"spec":{"suspend":%s}}' % str(value).lower())


def delete(cluster, job, ns=SYSTEM):
    """The job; waits until its pods are gone."""
    cluster.kubectl("-n", ns, "delete", "pdj", job, "--ignore-not-found")
    cluster.wait(f"no pod of {job} is left", lambda: not pods(cluster, job, ns))
