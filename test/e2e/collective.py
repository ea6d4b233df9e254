# SPDX-License-Identifier: Apache-2.0
"""Trains a model with two Collective workers of real PaddlePaddle; their weights agree."""
import json

from cluster import SYSTEM, TOP, component, expect
from paddle_pod import training_pod

COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)
NAME = "collective"


def job():
    script = ["/usr/bin/python3", "-m", "paddle.distributed.launch", "--log_dir=/tmp/launch",
              "/examples/collective/train.py"]
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": NAME},
            "spec": {"cleanPodPolicy": "Never",
                     "worker": {"replicas": 2, "template": {"spec": training_pod(script)}}}}


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    with cluster.step("apply; the job runs and completes"):
        cluster.apply([job()], SYSTEM)
        cluster.wait_phase("pdj", NAME, "Completed", SYSTEM, limit=300)
    with cluster.step("each worker says what it has learned"):
        ends = [last_report(cluster, f"{NAME}-worker-{rank}") for rank in (0, 1)]
        cluster.note(json.dumps(ends))
        expect(ends[0]["weights"] == ends[1]["weights"], f"the workers' weights differ: {ends}")
        for end in ends:
            expect(end["loss"][-1] < 0.8 * end["loss"][0], f"the loss did not fall: {end}")
    with cluster.step("kubectl shows it as documented"):
        row = cluster.kubectl("-n", SYSTEM, "get", "pdj", NAME).splitlines()[1].split()
        expect(row[:3] == [NAME, "Completed", "Collective"], f"kubectl get pdj shows {row}")
    with cluster.step("delete; its pods go with it"):
        cluster.kubectl("-n", SYSTEM, "delete", "pdj", NAME)
        cluster.wait("no pod is left", lambda: not [
            pod for pod in cluster.list("pods", SYSTEM) if pod["metadata"]["name"].startswith(NAME)])


def last_report(cluster, pod):
    """The last JSON line that a worker has printed."""
    lines = cluster.kubectl("-n", SYSTEM, "logs", pod).splitlines()
    reports = [line for line in lines if line.startswith("{") and '"weights"' in line]
    expect(reports, f"{pod} reported nothing: {lines[-10:]}")
    return json.loads(reports[-1])
