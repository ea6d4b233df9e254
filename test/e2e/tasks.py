# SPDX-License-Identifier: Apache-2.0
"""Trains jobs that are written as lists of tasks, as the Go operator's heter branch had them."""
import json

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.paddle_pod import training_pod

COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)

SERVED = ["/usr/bin/python3", "/examples/wide_and_deep/train.py"]
TOGETHER = ["/usr/bin/python3", "-m", "paddle.distributed.launch", "--log_dir=/tmp/launch",
            "/examples/collective/train.py"]


def job_of(name, tasks, command, **spec):
    job = jobs.paddle_job(name, {}, **spec)
    job["spec"]["tasks"] = [
        {"name": task, "replicas": replicas, "template": {"spec": training_pod(command)}}
        for task, replicas in tasks]
    return job


def last_report(cluster, pod):
    done = [each for each in jobs.reports(cluster, pod) if each.get("event") == "done"]
    expect(done, f"{pod} does not say that it is done")
    return done[-1]


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    with_servers(cluster)
    two_devices(cluster)
    refused(cluster)


def with_servers(cluster):
    name = "ps-deepfm"
    with cluster.step("two tasks of servers, one of trainers"):
        cluster.apply([job_of(name, [("ps-1", 1), ("ps-2", 1), ("trainer", 2)], SERVED,
                              mode="PS", withGloo=1)], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status["mode"] == "PS", f"its mode is {status['mode']}")
        expect(status["tasks"]["trainer"].get("succeeded") == 2, f"counted: {status['tasks']}")
        for rank in (0, 1):
            done = last_report(cluster, f"{name}-trainer-{rank}")
            expect(done["servers"] == 2 and done["ranks"] == 2, f"trainer {rank} says {done}")
            expect(done["last"] < done["first"], f"the loss did not fall: {done}")
        jobs.delete(cluster, name)


def two_devices(cluster):
    name = "collective-resnet"
    with cluster.step("two tasks train together, over Services and in order"):
        cluster.apply([job_of(name, [("gpu-1", 1), ("xpu-22", 2)], TOGETHER, mode="Collective",
                              intranet="Service", startInOrder=1)], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        types = cluster.get("configmap", name, SYSTEM)["data"]["PADDLE_TRAINERS_TYPES"]
        expect(types == "GPU,XPU,XPU", f"types are {types}")
        weights = set()
        for rank, pod in enumerate(("gpu-1-0", "xpu-22-0", "xpu-22-1")):
            done = last_report(cluster, f"{name}-{pod}")
            expect(done["ranks"] == 3 and done["rank"] == rank, f"{pod} says {done}")
            weights.add(str(done["weights"]))
        expect(len(weights) == 1, f"weights differ: {weights}")
        jobs.delete(cluster, name)


def refused(cluster):
    with cluster.step("tasks beside roles are refused at apply"):
        job = job_of("both", [("a", 1)], SERVED)
        job["spec"]["worker"] = {"replicas": 1, "template": {"spec": training_pod(SERVED)}}
        _, _, answer = cluster.run("-n", SYSTEM, "apply", "-f", "-", stdin=json.dumps(job))
        expect("tasks go alone" in answer, f"the answer was: {answer}")
