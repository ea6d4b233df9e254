# SPDX-License-Identifier: Apache-2.0
"""SampleJobs as users write them, their state, and killing the processes that run them."""
import contextlib
import json
import random
import threading
import time
from collections.abc import Iterable
from typing import Any, Self

from paddle_tools.e2e import sample_sets
from paddle_tools.e2e.cluster import SYSTEM, Cluster, ScenarioFailed, expect
from paddle_tools.json_types import Json

ENDED = ("Succeeded", "Failed")


def sample_job(name: str, kind: str, set_name: str, **spec: Any) -> Json:
    return {"apiVersion": sample_sets.API, "kind": "SampleJob", "metadata": {"name": name},
            "spec": {"type": kind, "sampleSetRef": {"name": set_name}, **spec}}


def status(cluster: Cluster, name: str) -> Json:
    return (cluster.get("samplejob", name, SYSTEM) or {}).get("status", {})


def condition(cluster: Cluster, name: str, kind: str = "Ready") -> Json:
    return next((each for each in status(cluster, name).get("conditions", [])
                 if each["type"] == kind), {})


def ends(cluster: Cluster, name: str, phase: str = "Succeeded", limit: float = 120) -> Json:
    """Waits until a job ended in a phase; returns its status."""
    cluster.wait(f"{name} ends", lambda: status(cluster, name).get("phase") in ENDED, limit)
    found = status(cluster, name)
    expect(found["phase"] == phase,
           f"{name} is {found['phase']}: {json.dumps(found['conditions'])}")
    return found


def all_end(cluster: Cluster, names: Iterable[str], limit: float) -> dict[str, Json]:
    """Waits until all jobs ended; returns {name: object}."""
    names = set(names)

    def look() -> Any:
        time.sleep(2)
        found = {each["metadata"]["name"]: each for each in cluster.list("samplejobs", SYSTEM)
                 if each["metadata"]["name"] in names}
        left = [name for name in names
                if found.get(name, {}).get("status", {}).get("phase") not in ENDED]
        if left:
            raise ScenarioFailed(f"{len(left)} of {len(names)} have not ended, such as "
                                 f"{sorted(left)[:3]}")
        return found
    return cluster.wait("all jobs end", look, limit)


class ProcessKiller:
    """Kills processes of a set's runtimes and of the operator with SIGKILL, one after another, at
    times that a seed determines. `with ProcessKiller(...):` kills until its end, but at most `most`
    times: kubelet delays the restart of a container that ends repeatedly."""

    def __init__(self, cluster: Cluster, set_name: str, seed: int, most: int) -> None:
        self._cluster = cluster
        self._set = set_name
        self._dice = random.Random(seed)
        self._most = most
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.killed: list[tuple[str | int, float]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._end.is_set():
            victims: list[str | int] = ["operator", 0, 1, 2]
            self._dice.shuffle(victims)
            for victim in victims:
                if len(self.killed) >= self._most or self._end.wait(self._dice.uniform(2, 9)):
                    return
                with contextlib.suppress(ScenarioFailed):
                    if self._kill(victim):
                        self.killed.append((victim, round(time.monotonic() - begun, 1)))

    def _kill(self, victim: str | int) -> bool:
        if isinstance(victim, int):
            return kill_runtime(self._cluster, self._set, victim)
        return kill_operator(self._cluster)


def kill_operator(cluster: Cluster) -> bool:
    """Kills the manager of SampleJobs; returns False when it does not run."""
    pods = cluster.list("pods", SYSTEM, "control-plane=samplejob-manager")
    node = pods[0]["spec"].get("nodeName") if pods else None
    return node is not None and kill_on(cluster, node, "environ",
                                        "PADDLE_CONTROLLERS=samplejob") > 0


def kill_runtime(cluster: Cluster, set_name: str, partition: int) -> bool:
    pod = cluster.get("pod", f"{set_name}-runtime-{partition}", SYSTEM)
    node = pod["spec"].get("nodeName") if pod else None
    return node is not None and kill_on(cluster, node, "cmdline",
                                        f"--set={SYSTEM}/{set_name}") > 0


def kill_on(cluster: Cluster, node: str, file: str, word: str) -> int:
    """Kills all processes that have a word in a file of /proc; returns their number."""
    script = (f"for each in /proc/[0-9]*; do tr '\\0' '\\n' < $each/{file} 2>/dev/null "
              f"| grep -qxF -e '{word}' && kill -9 ${{each#/proc/}} && echo $each; done; true")
    return len(cluster.on(node, "sh", "-c", script).split())
