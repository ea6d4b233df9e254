# SPDX-License-Identifier: Apache-2.0
"""SampleJobs as users write them, what is seen of them, and who does their work."""
import contextlib
import json
import random
import threading
import time

from paddle_tools.e2e import sample_sets
from paddle_tools.e2e.cluster import SYSTEM, Failed, expect

ENDED = ("Succeeded", "Failed")


def sample_job(name, kind, set_name, **spec):
    return {"apiVersion": sample_sets.API, "kind": "SampleJob", "metadata": {"name": name},
            "spec": {"type": kind, "sampleSetRef": {"name": set_name}, **spec}}


def status(cluster, name):
    return (cluster.get("samplejob", name, SYSTEM) or {}).get("status", {})


def condition(cluster, name, kind="Ready"):
    return next((each for each in status(cluster, name).get("conditions", [])
                 if each["type"] == kind), {})


def ends(cluster, name, phase="Succeeded", limit=120):
    """The status it ended with."""
    cluster.wait(f"{name} ends", lambda: status(cluster, name).get("phase") in ENDED, limit)
    found = status(cluster, name)
    expect(found["phase"] == phase, f"{name} is {found['phase']}: {json.dumps(found['conditions'])}")
    return found


def all_end(cluster, names, limit):
    """{name: object} when every one of them has ended."""
    names = set(names)

    def look():
        time.sleep(2)
        found = {each["metadata"]["name"]: each for each in cluster.list("samplejobs", SYSTEM)
                 if each["metadata"]["name"] in names}
        left = [name for name in names
                if found.get(name, {}).get("status", {}).get("phase") not in ENDED]
        if left:
            raise Failed(f"{len(left)} of {len(names)} have not ended, such as {sorted(left)[:3]}")
        return found
    return cluster.wait("all jobs end", look, limit)


class Killer:
    """Kills processes of a set's runtimes and of the operator with -9, one after another, at moments
    that a seed determines. `with Killer(...):` until the end, or until there were so many: kubelet
    starts a container that ends again and again later each time."""

    def __init__(self, cluster, set_name, seed, most):
        self._cluster = cluster
        self._set = set_name
        self._dice = random.Random(seed)
        self._most = most
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.killed = []

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _run(self):
        begun = time.monotonic()
        while not self._end.is_set():
            victims = ["operator", 0, 1, 2]
            self._dice.shuffle(victims)
            for victim in victims:
                if len(self.killed) >= self._most or self._end.wait(self._dice.uniform(2, 9)):
                    return
                with contextlib.suppress(Failed):
                    if self._kill(victim):
                        self.killed.append((victim, round(time.monotonic() - begun, 1)))

    def _kill(self, victim):
        if victim == "operator":
            return kill_operator(self._cluster)
        return kill_runtime(self._cluster, self._set, victim)


def kill_operator(cluster):
    """The one of SampleJobs; False: it is not there just now."""
    pods = cluster.list("pods", SYSTEM, "control-plane=samplejob-manager")
    node = pods[0]["spec"].get("nodeName") if pods else None
    return bool(node) and kill_on(cluster, node, "environ", "PADDLE_CONTROLLERS=samplejob") > 0


def kill_runtime(cluster, set_name, partition):
    pod = cluster.get("pod", f"{set_name}-runtime-{partition}", SYSTEM)
    node = pod["spec"].get("nodeName") if pod else None
    return bool(node) and kill_on(cluster, node, "cmdline", f"--set={SYSTEM}/{set_name}") > 0


def kill_on(cluster, node, file, word):
    """Kills whoever has the word in that file of /proc; how many they were."""
    script = (f"for each in /proc/[0-9]*; do tr '\\0' '\\n' < $each/{file} 2>/dev/null "
              f"| grep -qxF -e '{word}' && kill -9 ${{each#/proc/}} && echo $each; done; true")
    return len(cluster.on(node, "sh", "-c", script).split())
