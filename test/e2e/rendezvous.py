# SPDX-License-Identifier: Apache-2.0
"""Time from the last pod's address to the first worker's process, 20 times; 5 without operator."""
import os
import signal
import statistics
import subprocess
import threading
import time

from paddle_tools.e2e import jobs
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect

RUNS, KILLED = 20, (3, 7, 11, 15, 19)


class Operator:
    """The manager of PaddleJobs outside of the cluster, where it can be killed and restarted."""

    def __init__(self, cluster):
        self._argv = [str(TOP / "build/bin/paddle-operator"), "--controllers=paddlejob",
                      f"--namespace={SYSTEM}", f"--kubeconfig={cluster.kubeconfig}",
                      "--metrics-bind-address=127.0.0.1:0",
                      "--health-probe-bind-address=127.0.0.1:0"]
        self._log = TOP / "build/logs/e2e/rendezvous-operator.log"
        self._log.unlink(missing_ok=True)
        self._process = None

    def start(self):
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(self._argv, stdout=log, stderr=log,
                                             stdin=subprocess.DEVNULL,
                                             env={"PATH": os.environ["PATH"]})

    def kill(self):
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def run(cluster):
    with cluster.step("the manager in the cluster rests, one outside takes over"):
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-controller-manager",
                        "--replicas=0")
        cluster.wait("it is gone", lambda: not cluster.list(
            "pods", SYSTEM, "control-plane=controller-manager"))
    operator, addresses = Operator(cluster), Addresses(cluster)
    operator.start()
    try:
        calm, shaken = [], []
        with cluster.step(f"{RUNS} jobs of 3 workers meet"):
            for at in range(RUNS):
                (shaken if at in KILLED else calm).append(one(cluster, operator, addresses, at))
        for name, taken in (("undisturbed", calm), ("operator killed", shaken)):
            cluster.note(f"{name}: median {statistics.median(taken):.2f} s, "
                         f"worst {max(taken):.2f} s of {len(taken)}")
    finally:
        addresses.end()
        operator.kill()
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", "paddle-controller-manager",
                        "--replicas=1")
        cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-controller-manager",
                        "--timeout=60s", limit=90)


class Addresses:
    """Watches pods; knows when the API server first told the address of each."""

    def __init__(self, cluster):
        self.seen = {}
        self._child = cluster.start("-n", SYSTEM, "get", "pods", "--watch", "-o",
                                    r'jsonpath={.metadata.name}={.status.podIP}{"\n"}')
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._child.stdout:
            name, _, address = line.strip().partition("=")
            if address:
                self.seen.setdefault(name, time.time())

    def end(self):
        self._child.kill()
        self._child.wait()


def one(cluster, operator, addresses, at):
    """Seconds between the last pod's address and the first user process."""
    name = f"meet-{at}"
    worker = jobs.shell_pod("cat /proc/uptime; test -n \"$PADDLE_TRAINER_ENDPOINTS\"")
    cluster.apply([jobs.paddle_job(name, {"worker": (3, worker)})], SYSTEM)
    if at in KILLED:
        cluster.wait("some pods", lambda: jobs.pods(cluster, name))
        operator.kill()
        time.sleep(0.2 * (at % 3))
        operator.start()
    cluster.wait_phase("pdj", name, "Completed", SYSTEM)
    found = jobs.pods(cluster, name)
    expect(len(found) == 3, f"{name} has {sorted(found)}")
    began = min(started(cluster, each) for each in found)
    jobs.delete(cluster, name)
    return began - max(addresses.seen[each] for each in addresses.seen
                       if each.startswith(f"{name}-"))


def started(cluster, pod):
    """When its user process began, by the clock of this machine."""
    uptime = float(cluster.kubectl("-n", SYSTEM, "logs", pod).split()[0])
    with open("/proc/uptime", encoding="ascii") as file:
        return time.time() - float(file.read().split()[0]) + uptime
