# SPDX-License-Identifier: Apache-2.0
"""A cluster whose pods and services have addresses of IPv6 first: everything runs, workers meet."""
from paddle_tools.e2e import installation, jobs
from paddle_tools.e2e.cluster import SYSTEM, expect, testbed
from paddle_tools.e2e.paddle_pod import training_pod

MAKES_CLUSTERS = True
COMPONENTS = ("paddlepaddle",)
IMAGES = ("paddle-e2e",)
NAME = "e2e-ipv6"
# Each worker serves its address at its endpoint, reads those of all others, and waits for them.
MEET = """
import os, socket, threading, time
own, port = os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])
server = socket.create_server((own, port), family=socket.AF_INET6)
def serve():
    while True:
        with server.accept()[0] as link:
            link.sendall(own.encode())
threading.Thread(target=serve, daemon=True).start()
def ask(host):
    for _ in range(60):
        try:
            with socket.create_connection((host, port), timeout=5) as link:
                return link.makefile().read()
        except OSError as error:
            print(host, error, flush=True)
            time.sleep(1)
endpoints = os.environ["PADDLE_TRAINER_ENDPOINTS"].split(",")
heard = [ask(each.rpartition(":")[0].strip("[]")) for each in endpoints]
print("HEARD", *heard)
print("TOLD", own, os.environ["PADDLE_TRAINER_ENDPOINTS"], os.environ["PADDLE_MASTER"], flush=True)
time.sleep(5)
"""


def run(scenario_run):
    try:
        with scenario_run.step("a cluster with IPv6"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--with", "ipv6")
        cluster = scenario_run.cluster(NAME)
        for node in cluster.list("nodes"):
            first = next(each["address"] for each in node["status"]["addresses"]
                         if each["type"] == "InternalIP")
            expect(":" in first, f"the first address of a node is {first}")
        installation.install(cluster)
        cluster.load("paddle-e2e")
        for intranet in ("PodIP", "Service", "Host"):
            meets(cluster, intranet)
    finally:
        testbed(NAME, "down")


def meets(cluster, intranet):
    name = f"meet-{intranet.lower()}"
    with cluster.step(f"three workers over {intranet} reach each other at their endpoints"):
        pod = training_pod(["/usr/bin/python3", "-c", MEET])
        cluster.apply([jobs.paddle_job(name, {"worker": (3, pod)}, intranet=intranet)], SYSTEM)
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, limit=120)
        found = jobs.pods(cluster, name)
        address = [found[f"{name}-worker-{rank}"]["status"]["podIP"] for rank in range(3)]
        expect(all(":" in each for each in address), f"pods have {address}")
        service = intranet == "Service"  # there, names stand for addresses
        known = [f"{name}-worker-{rank}" for rank in range(3)] if service else address
        for rank, own in enumerate(known):
            said = cluster.kubectl("-n", SYSTEM, "logs", f"{name}-worker-{rank}").splitlines()
            (_, *heard), (_, mine, endpoints, master) = (line.split() for line in said[-2:])
            expect(heard == known, f"worker {rank} heard {heard}, pods have {known}")
            expect(mine == own, f"worker {rank} at {own} was told that it is {mine}")
            expect(master == endpoints.split(",")[0], f"the master {master} is not first")
            hosts = [each.rpartition(":")[0] for each in endpoints.split(",")]
            expect(hosts == (known if service else [f"[{each}]" for each in known]),
                   f"worker {rank} was told {endpoints}, pods have {address}")
        warned = cluster.kubectl("-n", SYSTEM, "get", "events", "--field-selector",
                                 f"involvedObject.name={name},reason=IPv6Addresses", "-o", "name")
        expect(bool(warned) != service, f"warnings of {name}: '{warned}'")
        jobs.delete(cluster, name)
