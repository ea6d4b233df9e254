# SPDX-License-Identifier: Apache-2.0
"""The cluster of the control benchmark: a real control plane with simulated nodes, made by
tools/testbed, and the programs that run against it. All of them end with this process."""
import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from paddle_tools.bench import machine
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.paths import TOP
from paddle_tools.testbed.api_client import ApiClient
from paddle_tools.testbed.layout import Layout, load

SYSTEM = "paddle-system"
JOBS = "/apis/batch.paddlepaddle.org/v1/namespaces/{}/paddlejobs"
KINDS = {"Pod": "pods", "Service": "services", "ConfigMap": "configmaps"}
TICK = os.sysconf("SC_CLK_TCK")


def environment(**more: str) -> dict[str, str]:
    """Nothing of the user's cloud, proxies or shell; HOME is where components are found."""
    passed = ("PATH", "HOME", "XDG_CACHE_HOME", "PADDLE_OPERATOR_CACHE")
    return {**{name: os.environ[name] for name in passed if name in os.environ},
            "LC_ALL": "C.UTF-8", **more}


def tail(path: Path, lines: int = 15) -> str:
    return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])


def bound_to_parent(argv: Sequence[object], signal: str = "KILL", first: bool = False) -> list[str]:
    """A command that ends with this process. With `first` it has priority over other programs."""
    return ["setpriv", "--pdeathsig", signal, *(["nice", "-n", "-10"] if first else []),
            *map(str, argv)]


class BackgroundProgram:
    """A program that runs in the background."""

    def __init__(self, argv: Sequence[str], log: Path, **env: str) -> None:
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                env=environment(**env))

    def wait_until(self, what: str, ready: Callable[[], object], limit: float) -> None:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if ready():
                    return
            if self.process.poll() is not None:
                raise ToolError(f"{what}: the program ended:\n{tail(self.log)}")
            time.sleep(0.05)
        raise ToolError(f"{what}: not within {limit} s:\n{tail(self.log)}")

    def stop(self, limit: float = 60) -> None:
        self.process.terminate()
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    """With `first` it and what is measured have priority over other programs of the machine."""

    def __init__(self, name: str, false_nodes: int, logs: Path, first: bool = True) -> None:
        bed = TOP / "tools/testbed"
        if subprocess.run([bed, "prepare", "--nodes", "0", "--with", "kwok"],
                          check=False).returncode != 0:
            raise ToolError("the cluster cannot be made here; the reason is above")
        subprocess.run([bed, "--name", name, "down"], check=False, capture_output=True)
        (logs / "testbed.log").unlink(missing_ok=True)
        up = [bed, "--name", name, "up", "--nodes", "0", "--with", f"kwok={false_nodes}",
              "--foreground"]
        self._program = BackgroundProgram(bound_to_parent(up, "TERM"), logs / "testbed.log")
        self.first, self._logs, self._namespaces = first, logs, 0
        try:
            self._program.wait_until("the cluster",
                                     lambda: "is up after" in self._program.log.read_text(), 300)
            self.layout = load(Layout(name).state)
            self._api = ApiClient(self.layout, self.layout.outside_address, timeout=120)
            if first:
                machine.give_weight(self.layout.cgroup, 20)
            self._install()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        self._program.stop()

    @property
    def audit_log(self) -> Path:
        return self.layout.state / "audit.log"

    def _install(self) -> None:
        self.kubectl("apply", "--server-side", "-f", TOP / "deploy/v1/crd.yaml")
        self.wait("our kinds", lambda: all(self.get(f"/apis/batch.paddlepaddle.org/{each}")
                                           for each in ("v1/paddlejobs", "v1alpha1/samplesets")))
        self.kubectl("create", "namespace", SYSTEM)

    def kubectl(self, *args: str | Path) -> str:
        done = subprocess.run([self.layout.programs["kubectl"], *map(str, args)], text=True,
                              check=False, capture_output=True, stdin=subprocess.DEVNULL,
                              env=environment(KUBECONFIG=str(self.layout.kubeconfig),
                                              HOME=str(self._logs)))
        if done.returncode != 0:
            raise ToolError(f"kubectl {args[0]}: {done.stderr.strip()}")
        return done.stdout

    # --- objects ----------------------------------------------------------------------------------

    def namespace(self) -> str:
        """Creates a namespace in which pods can be created. Names are never used twice."""
        self._namespaces += 1
        name = f"bench-{self._namespaces}"
        self.kubectl("create", "namespace", name)
        self.wait(f"namespace {name}", lambda: self.get(
            f"/api/v1/namespaces/{name}/serviceaccounts/default"))
        return name

    def get(self, path: str) -> Any:
        return self._api.get(path)

    def list_objects(self, path: str) -> list[Json]:
        """All objects, read page by page."""
        found: list[Json] = []
        following = ""
        while True:
            page = self.get(f"{path}?limit=500&continue={following}")
            if page is None:
                raise ToolError(f"the API server does not list {path}")
            found += page["items"]
            following = page["metadata"].get("continue", "")
            if not following:
                return found

    def objects_in(self, ns: str) -> list[tuple[str, Json]]:
        """[(kind, object)] of the kinds that the operator makes for jobs."""
        return [(kind, each) for kind, plural in KINDS.items()
                for each in self.list_objects(f"/api/v1/namespaces/{ns}/{plural}")]

    def clear(self, ns: str) -> None:
        """Deletes all objects of a turn without grace periods; waits until the cluster is idle."""
        core = f"/api/v1/namespaces/{ns}"
        paths = [JOBS.format(ns), *(f"{core}/{each}" for each in (*KINDS.values(), "events"))]

        def gone() -> bool:
            for path in paths:
                self._api.call("DELETE", f"{path}?gracePeriodSeconds=0")
            return not any(self.get(f"{path}?limit=1")["items"] for path in paths[:2])
        self.wait(f"the end of all objects in {ns}", gone, 300)
        self.rest()

    def wait(self, what: str, look: Callable[[], Any], limit: float = 60) -> Any:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if found := look():
                    return found
            time.sleep(0.1)
        raise ToolError(f"{what}: not within {limit} s")

    def rest(self, cores: float = 0.4, limit: float = 30) -> None:
        """Waits until the control plane only renews leases."""
        end = time.monotonic() + limit
        used = self.cpu_seconds()
        while time.monotonic() < end:
            time.sleep(1)
            before, used = used, self.cpu_seconds()
            if used - before < cores:
                return

    def cpu_seconds(self) -> float:
        """Processor time of the whole control plane."""
        return machine.group_seconds(self.layout.cgroup)

    # --- programs ---------------------------------------------------------------------------------

    def make(self, program: Path, objects: list[Json], watched: str, count: int, connections: int,
             limit: float) -> Json:
        """Creates objects and waits until `count` of the watched kind run; returns its figures."""
        file = self._logs / "objects.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in objects))
        argv = [program, self.layout.kubeconfig, file, watched, count, connections, limit]
        done = subprocess.run(bound_to_parent(argv, first=self.first), text=True, check=False,
                              capture_output=True, env=environment(), stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise ToolError(done.stderr.strip() or f"make_objects ended with {done.returncode}")
        return json.loads(done.stdout)


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Operator(BackgroundProgram):
    """paddle-operator as a process on this machine, with an administrator's rights. Leads when the
    constructor returns."""

    def __init__(self, program: Path, cluster: Cluster, log: Path) -> None:
        self._metrics, health = (f"127.0.0.1:{port}" for port in free_ports(2))
        argv = [program, "--controllers=paddlejob", "--leader-elect",
                f"--kubeconfig={cluster.layout.kubeconfig}",
                f"--metrics-bind-address={self._metrics}", f"--health-probe-bind-address={health}"]
        super().__init__(bound_to_parent(argv, first=cluster.first), log, POD_NAMESPACE=SYSTEM)
        try:
            self.wait_until("the operator", self._leads, 60)
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def metrics(self) -> str:
        link = http.client.HTTPConnection(self._metrics, timeout=5)
        with contextlib.closing(link):
            link.request("GET", "/metrics")
            return link.getresponse().read().decode()

    def _leads(self) -> bool:
        return any(line.startswith("paddle_leader{") and line.endswith(" 1")
                   for line in self.metrics().splitlines())

    def cpu_seconds(self) -> float:
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory_mib(self) -> tuple[float, float]:
        """(now, at most so far)"""
        found = dict(line.split(":", 1) for line in
                     Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        now, most = (int(found[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, most
