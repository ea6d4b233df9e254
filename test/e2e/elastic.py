# SPDX-License-Identifier: Apache-2.0
"""Elastic training with real Paddle over etcd: two workers, then three, then two again."""
import shutil

from paddle_tools.e2e import jobs, manager
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect
from paddle_tools.e2e.paddle_pod import training_pod

WITH = ("etcd",)
COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)
NAME = "grows"


def job():
    pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                        "--log_dir=/tmp/launch", "/examples/collective/train.py", "--steps=900",
                        "--pause=0.1", "--checkpoint=/saved"],
                       env={"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
                       restartPolicy="OnFailure")
    saved = TOP / "build" / "e2e-saved" / NAME
    shutil.rmtree(saved, ignore_errors=True)
    saved.mkdir(parents=True)
    pod["volumes"].append({"name": "saved", "hostPath": {"path": str(saved), "type": "Directory"}})
    pod["containers"][0]["volumeMounts"].append({"name": "saved", "mountPath": "/saved"})
    made = jobs.paddle_job(NAME, {"worker": (2, pod)}, elastic=1)
    made["spec"]["worker"].update(requests=1, limits=3)
    return made


def ranks(cluster):
    """How many train together now, as the first worker tells it."""
    told = jobs.reports(cluster, f"{NAME}-worker-0")
    return told[-1].get("ranks")


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    with manager.with_args(cluster, "--etcd-server=10.88.0.1:2479"):
        with cluster.step("two workers train together"):
            cluster.apply([job()], SYSTEM)
            cluster.wait("two ranks", lambda: ranks(cluster) == 2, 180)
        with cluster.step("kubectl scale --replicas=3: three train together"):
            cluster.kubectl("-n", SYSTEM, "scale", "pdj", NAME, "--replicas=3")
            cluster.wait("three ranks", lambda: ranks(cluster) == 3, 240)
        with cluster.step("kubectl scale --replicas=2: two go on"):
            cluster.kubectl("-n", SYSTEM, "scale", "pdj", NAME, "--replicas=2")
            cluster.wait("two ranks", lambda: ranks(cluster) == 2, 240)
        with cluster.step("the job completes, from what was saved"):
            cluster.wait_phase("pdj", NAME, "Completed", SYSTEM, limit=300)
            done = jobs.reports(cluster, f"{NAME}-worker-0")[-1]
            expect(done["event"] == "done" and done["agreed"], f"its end: {done}")
            jobs.delete(cluster, NAME)
