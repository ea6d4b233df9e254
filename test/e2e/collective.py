# SPDX-License-Identifier: Apache-2.0
"""Trains with two Collective workers of real PaddlePaddle that save to a static JuiceFS volume."""
import json

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect
from paddle_tools.e2e.paddle_pod import training_pod

WITH = ("redis", "s3")
LEAKS_OF_OTHERS = juicefs.FORMAT_OF_DRIVER
COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e", *juicefs.IMAGES)
NAME = "collective"
DRIVER = TOP / "deploy/csi/juicefs.yaml"


def job():
    pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                        "--log_dir=/tmp/launch", "/examples/collective/train.py",
                        "--checkpoint=/data"])
    pod["volumes"].append({"name": "data", "persistentVolumeClaim": {"claimName": NAME}})
    pod["containers"][0]["volumeMounts"].append({"name": "data", "mountPath": "/data"})
    return {"apiVersion": "batch.paddlepaddle.org/v1", "kind": "PaddleJob",
            "metadata": {"name": NAME},
            "spec": {"cleanPodPolicy": "Never",
                     "worker": {"replicas": 2, "template": {"spec": pod}}}}


def run(cluster):
    with cluster.step("the images on every node"):
        cluster.load("paddle-e2e", *juicefs.IMAGES)
    with cluster.step("a JuiceFS volume and its driver"):
        cluster.kubectl("apply", "-f", DRIVER)
        cluster.apply(juicefs.volume(cluster, NAME, 3, f"/var/cache/{NAME}", SYSTEM), SYSTEM)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))
    with cluster.step("apply; the job runs and completes"):
        cluster.apply([job()], SYSTEM)
        cluster.wait_phase("pdj", NAME, "Completed", SYSTEM, limit=300)
    with cluster.step("the loss fell, and the workers' weights agree"):
        told = [reports(cluster, f"{NAME}-worker-{rank}") for rank in (0, 1)]
        cluster.note(json.dumps([each[-1] for each in told]))
        for each in told:
            losses = [report["loss"] for report in each if report["event"] == "step"]
            expect(losses[-1] < 0.5 * losses[0], f"the loss did not fall: {losses}")
            expect(each[-1]["event"] == "done" and each[-1]["ranks"] == 2, f"no end: {each[-1]}")
        expect(told[0][-1]["weights"] == told[1][-1]["weights"], "the workers' weights differ")
    with cluster.step("kubectl shows it as documented"):
        row = cluster.kubectl("-n", SYSTEM, "get", "pdj", NAME).splitlines()[1].split()
        expect(row[:3] == [NAME, "Completed", "Collective"], f"kubectl get pdj shows {row}")
    with cluster.step("what was saved is read on another node"):
        used = {each["spec"]["nodeName"] for each in pods(cluster)}
        other = next(each for each in juicefs.nodes(cluster) if each not in used)
        cluster.apply([juicefs.user("reader", NAME, other)], SYSTEM)
        cluster.wait("the reader is Ready", lambda: juicefs.ready(cluster, "reader", ns=SYSTEM))
        listed = cluster.kubectl("-n", SYSTEM, "exec", "reader", "--", "ls", "-l", "/data")
        expect("state.pdparams" in listed, f"the checkpoint is not there: {listed}")
    with cluster.step("delete; its pods go with it, then the volume"):
        cluster.kubectl("-n", SYSTEM, "delete", "pdj", NAME)
        cluster.wait("no pod is left", lambda: not pods(cluster))
        cluster.kubectl("-n", SYSTEM, "delete", "pod", "reader")
        cluster.wait("no mount pod is left", lambda: not juicefs.mount_pods(cluster, NAME), 90)
        cluster.kubectl("-n", SYSTEM, "delete", "pvc", NAME)
        cluster.kubectl("delete", "pv", NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME)


def pods(cluster):
    return [each for each in cluster.list("pods", SYSTEM)
            if each["metadata"]["name"].startswith(f"{NAME}-")]


def reports(cluster, pod):
    """What a worker has said, in order."""
    lines = cluster.kubectl("-n", SYSTEM, "logs", pod).splitlines()
    found = [json.loads(line.partition("RESULT ")[2]) for line in lines
             if line.startswith("RESULT ")]
    expect(found, f"{pod} reported nothing: {lines[-10:]}")
    return found
