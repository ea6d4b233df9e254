# SPDX-License-Identifier: Apache-2.0
"""The bed itself: two clusters do not meet, and whatever kills one of them, nothing is left."""
import contextlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from paddle_tools.e2e.cluster import expect, testbed

MAKES_CLUSTERS = True
BASE = Path("/tmp/paddle-testbed")
FIRST, SECOND = "e2e-a", "e2e-b"


def run(scenario_run):
    try:
        first, second = up(scenario_run, FIRST), up(scenario_run, SECOND, "--nodes", "2")
        apart(first, second)
        ends(first)
        crashes(second)
    finally:
        for name in (FIRST, SECOND):
            testbed(name, "down")


def up(scenario_run, name, *args):
    scenario_run.note(testbed(name, "up", *args).splitlines()[-1])
    return scenario_run.cluster(name)


def outside(cluster):
    return json.loads((BASE / cluster.name / "cluster.json").read_text())["outside"]


def apart(first, second):
    with first.step("two clusters with the same addresses inside know nothing of each other"):
        names = {node["metadata"]["name"] for node in first.list("nodes")}
        expect(names == {"node1", "node2", "node3"}, f"nodes of the first: {names}")
        expect(len(second.list("nodes")) == 2, "nodes of the second")
        second.kubectl("create", "namespace", "only-here")
        expect(first.get("namespace", "only-here") is None, "the first sees the second's namespace")
        for cluster in (first, second):
            seen = cluster.on("host", "curl", "-sk", "-m", "5",
                              "https://10.88.0.1:6443/version").strip()
            expect("v1.34" in seen, f"its own API server says '{seen}'")
        other = f"https://10.89.{outside(second)}.2:6443"
        code, _, _ = second.run("--server", other, "get", "nodes")
        expect(code == 0, "the second's own address does not answer")
        seen = first.on("host", "sh", "-c", f"curl -sk -m 3 {other}/version || echo unreachable")
        expect("unreachable" in seen, "the first reaches the second's API server")
        code, _, said = first.run("--server", other, "get", "nodes")
        expect(code != 0, f"the first's administrator is one in the second: {said}")


def traces(name):
    """Whatever of a cluster can be seen on the machine, except files and empty control groups."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if f"{BASE}/{name}" in words:
                found.append(words)
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if f"{BASE}/{name}" in line]
    for path in control_groups(name):
        for file in path.rglob("cgroup.procs"):
            found += [f"process {pid} of {file}" for pid in file.read_text().split()]
    return found


def control_groups(name):
    return [path for depth in ("*", "*/*") for path in Path("/sys/fs/cgroup").glob(depth)
            if path.name == f"paddle-testbed-{name}"]


def links():
    said = subprocess.run(["ip", "-br", "link"], check=True, text=True, capture_output=True).stdout
    return {line.split("@")[0] for line in said.splitlines() if line.startswith("ptb")}


def gone(name, link):
    return lambda: not traces(name) and link not in links()


def pid_of(name):
    return int((BASE / f"{name}.lock").read_text())


def child_of(pid):
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def ends(cluster):
    with cluster.step("down leaves nothing"):
        link = f"ptb{outside(cluster)}"
        expect(traces(FIRST) and link in links(), "this test sees no traces of a running cluster")
        start = time.monotonic()
        testbed(FIRST, "down")
        cluster.note(f"down took {time.monotonic() - start:.1f} s")
        expect(gone(FIRST, link)() and not control_groups(FIRST), f"left: {traces(FIRST)}")
        expect(not list(BASE.glob(f"{FIRST}*")), "there are files left")


def crashes(cluster):
    """The process outside; pid 1 inside; the process that serves."""
    for title, victim in {"the supervisor outside": pid_of,
                          "pid 1 inside": lambda name: child_of(pid_of(name)),
                          "the process that serves": lambda name: child_of(child_of(pid_of(name)))
                          }.items():
        with cluster.step(f"kill -9 of {title} takes everything with it"):
            link = f"ptb{outside(cluster)}"
            os.kill(victim(SECOND), signal.SIGKILL)
            cluster.wait(f"the end, but there is {traces(SECOND)[:3]}", gone(SECOND, link), 20)
        with cluster.step("and the next one starts where it was"):
            cluster = up(cluster, SECOND, "--nodes", "2")
    testbed(SECOND, "down")
    expect(not control_groups(SECOND) and not list(BASE.glob(f"{SECOND}*")), "something is left")
