# SPDX-License-Identifier: Apache-2.0
"""From the last pod that can be released to the first user process, twenty times; the operator dies in five."""
import datetime
import os
import signal
import statistics
import subprocess
import time

import jobs
from cluster import SYSTEM, TOP, Failed, expect

RUNS, KILLED = 20, (3, 7, 11, 15, 19)


class Operator:
    """The manager of PaddleJobs outside of the cluster, where it can be killed and is back at once."""

    def __init__(self, cluster):
        self._argv = [str(TOP / "build/bin/paddle-operator"), "--controllers=paddlejob",
                      f"--namespace={SYSTEM}", f"--kubeconfig={cluster.kubeconfig}",
                      "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"]
        self._log = open(TOP / "build/logs/e2e/rendezvous-operator.log", "wb")
        self._process = None

    def start(self):
        self._process = subprocess.Popen(self._argv, stdout=self._log, stderr=self._log,
                                         stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def run(cluster):
    with cluster.step("the manager in the cluster rests, one outside takes over"):
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-controller-manager",
                        "--replicas=0")
        cluster.wait("it is gone", lambda: not cluster.list(
            "pods", SYSTEM, "control-plane=controller-manager"))
    operator = Operator(cluster)
    operator.start()
    try:
        calm, shaken = [], []
        with cluster.step(f"{RUNS} jobs of 2 servers and 2 workers start in order"):
            for at in range(RUNS):
                (shaken if at in KILLED else calm).append(one(cluster, operator, at))
        for name, taken in (("undisturbed", calm), ("operator killed", shaken)):
            cluster.note(f"{name}: median {statistics.median(taken):.2f} s, "
                         f"worst {max(taken):.2f} s of {len(taken)}")
    finally:
        operator.kill()
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-controller-manager",
                        "--replicas=1")
        cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-controller-manager",
                        "--timeout=60s", limit=90)


def one(cluster, operator, at):
    """Seconds between the last coordinator's start and the first user process."""
    name = f"meet-{at}"
    ps = jobs.shell_pod("date +%s.%N; sleep 600")
    worker = jobs.shell_pod("date +%s.%N; test -n \"$PADDLE_TRAINER_ENDPOINTS\"")
    cluster.apply([jobs.paddle_job(name, {"ps": (2, ps), "worker": (2, worker)})], SYSTEM)
    if at in KILLED:
        cluster.wait("some pods", lambda: jobs.pods(cluster, name))
        operator.kill()
        time.sleep(0.2 * (at % 3))
        operator.start()
    cluster.wait_phase("pdj", name, "Completed", SYSTEM)
    found = jobs.pods(cluster, name)
    expect(len(found) == 4, f"{name} has {sorted(found)}")
    for pod in found.values():
        expect(not waiting_reasons(pod) & {"CreateContainerConfigError"}, f"{name}: {pod['status']}")
    ready = max(coordinator_start(pod) for pod in found.values())
    began = min(float(cluster.kubectl("-n", SYSTEM, "logs", each).split()[0]) for each in found)
    jobs.delete(cluster, name)
    return began - ready


def waiting_reasons(pod):
    states = pod["status"].get("containerStatuses", []) + pod["status"].get("initContainerStatuses", [])
    return {each["state"].get("waiting", {}).get("reason") for each in states}


def coordinator_start(pod):
    """Kubernetes tells whole seconds: the true moment is up to one later."""
    for each in pod["status"]["initContainerStatuses"]:
        if each["name"] == "coord-paddle":
            began = each["state"]["terminated"]["startedAt"]
            return datetime.datetime.fromisoformat(began.replace("Z", "+00:00")).timestamp()
    raise Failed(f"pod {pod['metadata']['name']} has no coordinator")
