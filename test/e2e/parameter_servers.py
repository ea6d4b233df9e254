# SPDX-License-Identifier: Apache-2.0
"""Trains Wide & Deep with parameter servers, over pod addresses, Services and the host network."""
import json

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.paddle_pod import training_pod

COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)


def servers_and_trainers(name, servers, **spec):
    pod = training_pod(["/usr/bin/python3", "/examples/wide_and_deep/train.py"])
    return jobs.paddle_job(name, {"ps": (servers, pod), "worker": (2, pod)}, **spec)


def run(cluster):
    with cluster.step("the training image on every node"):
        cluster.load("paddle-e2e")
    trains(cluster, "wide-podip", 2, withGloo=1)
    trains(cluster, "wide-service", 2, intranet="Service", withGloo=1)
    # A node has each port once: three pods fit.
    trains(cluster, "wide-host", 1, intranet="Host", withGloo=1)
    collective(cluster)


def trains(cluster, name, servers, **spec):
    with cluster.step(f"{name}: {servers} servers and 2 trainers {json.dumps(spec)}"):
        cluster.apply([servers_and_trainers(name, servers, **spec)], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        status = cluster.get("pdj", name, SYSTEM)["status"]
        expect(status["mode"] == "PS", f"its mode is {status['mode']}")
        for rank in (0, 1):
            told = jobs.reports(cluster, f"{name}-worker-{rank}")
            losses = [each["loss"] for each in told if "loss" in each]
            cluster.note(f"worker {rank}: {losses[0]} -> {losses[-1]}")
            expect(losses[-1] < losses[0], f"the loss did not fall: {losses}")
        if spec.get("intranet") == "Host":
            on_host_network(cluster, name)
        if spec.get("intranet") == "Service":
            services = [each["metadata"]["name"] for each in cluster.list("services", SYSTEM)]
            expect(f"{name}-ps-1" in services, f"no Service of its own for a server: {services}")
    with cluster.step(f"{name}: the servers are stopped, and go with the job"):
        cluster.wait("no server runs", lambda: not [
            pod for pod_name, pod in jobs.pods(cluster, name).items()
            if "-ps-" in pod_name and pod["status"]["phase"] == "Running"])
        jobs.delete(cluster, name)
        left = [each["metadata"]["name"] for each in cluster.list("services,configmaps", SYSTEM)
                if each["metadata"]["name"].startswith(name)]
        expect(not left, f"left behind: {left}")


def on_host_network(cluster, name):
    found = jobs.pods(cluster, name).values()
    expect(all(each["spec"].get("hostNetwork") for each in found),
           "not all are on the host network")
    taken = set()
    for each in found:
        for container in each["spec"]["containers"]:
            for port in container.get("ports", []):
                place = (each["spec"]["nodeName"], port.get("hostPort"))
                expect(place not in taken, f"two pods of one job have {place}")
                taken.add(place)
    expect(taken, "no host port is declared, so the scheduler cannot keep pods apart")


def collective(cluster):
    name = "wide-collective"
    with cluster.step("the same model data-parallel, without servers"):
        pod = training_pod(["/usr/bin/python3", "-m", "paddle.distributed.launch",
                            "--log_dir=/tmp/launch", "/examples/wide_and_deep/train.py"])
        cluster.apply([jobs.paddle_job(name, {"worker": (2, pod)})], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=300)
        jobs.delete(cluster, name)
