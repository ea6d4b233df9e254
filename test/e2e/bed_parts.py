# SPDX-License-Identifier: Apache-2.0
"""The bed itself: its optional parts work: Redis, S3, etcd, gang scheduling, false nodes."""
import json
import socket
import subprocess
from pathlib import Path

from paddle_tools.e2e.cluster import TOOLS, expect
from paddle_tools.s3 import S3Client

MAKES_CLUSTERS = True
NAME = "e2e-parts"
STATE = Path("/tmp/paddle-testbed") / NAME
GROUP = "scheduling.k8s.io/group-name"


def run(scenario_run):
    bed = [TOOLS / "testbed", "--name", NAME]
    try:
        done = subprocess.run([*bed, "up", "--with", "redis,s3,etcd,volcano,kwok=10"], check=False,
                              stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, "the cluster did not start, see above")
        cluster = scenario_run.cluster(NAME)
        servers(cluster)
        gang(cluster)
        false_nodes(cluster)
    finally:
        subprocess.run([*bed, "down"], check=False, timeout=120)


def servers(cluster):
    """Redis and S3 are on the cluster's address outside as well."""
    layout = json.loads((STATE / "cluster.json").read_text())
    outside = f"10.89.{layout['outside']}.2"
    with cluster.step("Redis answers, outside and on a node"):
        with socket.create_connection((outside, 6379), 5) as link:
            link.sendall(b"PING\r\n")
            expect(link.recv(64) == b"+PONG\r\n", "Redis does not answer outside")
        said = cluster.on("node2", "python3", "-c", "import socket\n"
                          "link = socket.create_connection(('10.88.0.1', 6379), 5)\n"
                          "link.sendall(b'PING\\r\\n')\nprint(link.recv(64))")
        expect("PONG" in said, f"Redis says '{said}' on a node")
    with cluster.step("the S3 server takes an object with the keys of the state directory"):
        file = STATE / "s3.env"
        expect(file.stat().st_mode & 0o077 == 0, "others may read the keys")
        keys = dict(line.split("=", 1) for line in file.read_text().splitlines())
        s3 = S3Client(outside, 9000, keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])
        s3.make_bucket("parts")
        s3.put("parts", "a/b", b"content")
        expect((STATE / "s3/parts/a/b").read_bytes() == b"content", "the object is not there")
    with cluster.step("elastic jobs have an etcd of their own"):
        said = cluster.on("node1", "curl", "-sSf", "-m", "5", "http://10.88.0.1:2479/version")
        expect("etcdserver" in said, f"it says '{said}'")


def gang(cluster):
    def pod(name):
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "annotations": {GROUP: "pair"}},
                "spec": {"schedulerName": "volcano", "terminationGracePeriodSeconds": 0,
                         "containers": [{"name": "main", "image": "busybox:1.35",
                                         "command": ["sleep", "1000"],
                                         "resources": {"requests": {"cpu": "50m"}}}]}}

    def group():
        return (cluster.get("podgroup", "pair") or {}).get("status", {}).get("phase")
    with cluster.step("one pod of a pair waits, two run"):
        cluster.apply([{"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
                        "metadata": {"name": "pair"}, "spec": {"minMember": 2}}, pod("one")])
        cluster.wait("the group in the queue", lambda: group() == "Inqueue")
        expect("nodeName" not in cluster.get("pod", "one")["spec"], "one was scheduled alone")
        cluster.apply([pod("two")])
        for name in ("one", "two"):
            cluster.wait_phase("pod", name, "Running")
        cluster.wait("the group running", lambda: group() == "Running")


def false_nodes(cluster):
    def pod(name, phase):
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": name, "annotations": {"testbed/run-for": "1s",
                                                           "testbed/end-phase": phase}},
                "spec": {"nodeSelector": {"type": "kwok"},
                         "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
                         "containers": [{"name": "main", "image": "none"}]}}
    with cluster.step("pods on false nodes end as they are told, others stay away from them"):
        cluster.apply([pod("good", "Succeeded"), pod("bad", "Failed")])
        cluster.wait_phase("pod", "good", "Succeeded")
        cluster.wait_phase("pod", "bad", "Failed", never=())
        real = {cluster.get("pod", name)["spec"]["nodeName"] for name in ("one", "two")}
        expect(not any(name.startswith("kwok") for name in real), f"the pair is on {real}")
