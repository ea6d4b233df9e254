# SPDX-License-Identifier: Apache-2.0
"""The cluster that the control benchmark measures on: a real control plane with false nodes, made
by tools/testbed, and the programs that are run against it. Everything ends with us."""
import contextlib
import http.client
import json
import os
import socket
import subprocess
import time
from pathlib import Path

from paddle_tools.bench import machine
from paddle_tools.paths import TOP
from paddle_tools.sandbox import Failure
from paddle_tools.testbed.api_client import Api
from paddle_tools.testbed.layout import Layout, load

SYSTEM = "paddle-system"
JOBS = "/apis/batch.paddlepaddle.org/v1/namespaces/{}/paddlejobs"
KINDS = {"Pod": "pods", "Service": "services", "ConfigMap": "configmaps"}
TICK = os.sysconf("SC_CLK_TCK")


def environment(**more):
    """Nothing of the user's cloud, proxies or shell; HOME says where components are."""
    passed = ("PATH", "HOME", "XDG_CACHE_HOME", "PADDLE_OPERATOR_CACHE")
    return {**{name: os.environ[name] for name in passed if name in os.environ},
            "LC_ALL": "C.UTF-8", **more}


def tail(path, lines=15):
    return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])


def ending_with_us(argv, signal="KILL", first=False):
    """A command line. `first`: before other programs of the machine, as the cluster is."""
    return ["setpriv", "--pdeathsig", signal, *(["nice", "-n", "-10"] if first else []),
            *map(str, argv)]


class Program:
    """Runs beside us; killed with us."""

    def __init__(self, argv, log, **env):
        self.log = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                env=environment(**env))

    def wait_until(self, what, ready, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if ready():
                    return
            if self.process.poll() is not None:
                raise Failure(f"{what}: the program ended:\n{tail(self.log)}")
            time.sleep(0.05)
        raise Failure(f"{what}: not within {limit} s:\n{tail(self.log)}")

    def stop(self, limit=60):
        self.process.terminate()
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Cluster:
    """`first`: it and what is measured go before other programs of the machine, so that neighbours
    disturb less."""

    def __init__(self, name, false_nodes, logs, first=True):
        bed = TOP / "tools/testbed"
        if subprocess.run([bed, "prepare", "--nodes", "0", "--with", "kwok"],
                          check=False).returncode != 0:
            raise Failure("the cluster can not be made here; the reason is above")
        subprocess.run([bed, "--name", name, "down"], check=False, capture_output=True)
        (logs / "testbed.log").unlink(missing_ok=True)
        up = [bed, "--name", name, "up", "--nodes", "0", "--with", f"kwok={false_nodes}",
              "--foreground"]
        self._program = Program(ending_with_us(up, "TERM"), logs / "testbed.log")
        self.first, self._logs, self._namespaces = first, logs, 0
        try:
            self._program.wait_until("the cluster",
                                     lambda: "is up after" in self._program.log.read_text(), 300)
            self.layout = load(Layout(name).state)
            self._api = Api(self.layout, self.layout.outside_address, timeout=120)
            if first:
                machine.give_weight(self.layout.cgroup, 20)
            self._install()
        except BaseException:
            self.end()
            raise

    def end(self):
        self._program.stop()

    @property
    def audit_log(self):
        return self.layout.state / "audit.log"

    def _install(self):
        self.kubectl("apply", "--server-side", "-f", TOP / "deploy/v1/crd.yaml")
        self.wait("our kinds", lambda: all(self.get(f"/apis/batch.paddlepaddle.org/{each}")
                                           for each in ("v1/paddlejobs", "v1alpha1/samplesets")))
        self.kubectl("create", "namespace", SYSTEM)

    def kubectl(self, *args):
        done = subprocess.run([self.layout.programs["kubectl"], *map(str, args)], text=True,
                              check=False, capture_output=True, stdin=subprocess.DEVNULL,
                              env=environment(KUBECONFIG=str(self.layout.kubeconfig),
                                              HOME=str(self._logs)))
        if done.returncode != 0:
            raise Failure(f"kubectl {args[0]}: {done.stderr.strip()}")
        return done.stdout

    # --- objects ----------------------------------------------------------------------------------

    def namespace(self):
        """A new one in which pods may be created. Names are never used twice."""
        self._namespaces += 1
        name = f"bench-{self._namespaces}"
        self.kubectl("create", "namespace", name)
        self.wait(f"namespace {name}", lambda: self.get(
            f"/api/v1/namespaces/{name}/serviceaccounts/default"))
        return name

    def get(self, path):
        return self._api.get(path)

    def list(self, path):
        """All of them, page by page."""
        found, following = [], ""
        while True:
            page = self.get(f"{path}?limit=500&continue={following}")
            if page is None:
                raise Failure(f"the API server does not list {path}")
            found += page["items"]
            following = page["metadata"].get("continue", "")
            if not following:
                return found

    def made_in(self, ns):
        """[(kind, object)] of the kinds that an operator makes for jobs."""
        return [(kind, each) for kind, plural in KINDS.items()
                for each in self.list(f"/api/v1/namespaces/{ns}/{plural}")]

    def clear(self, ns):
        """Everything of a turn, without waiting for anybody's grace; then rest."""
        core = f"/api/v1/namespaces/{ns}"
        paths = [JOBS.format(ns), *(f"{core}/{each}" for each in (*KINDS.values(), "events"))]

        def gone():
            for path in paths:
                self._api.call("DELETE", f"{path}?gracePeriodSeconds=0")
            return not any(self.get(f"{path}?limit=1")["items"] for path in paths[:2])
        self.wait(f"the end of all objects in {ns}", gone, 300)
        self.rest()

    def wait(self, what, look, limit=60):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if found := look():
                    return found
            time.sleep(0.1)
        raise Failure(f"{what}: not within {limit} s")

    def rest(self, cores=0.4, limit=30):
        """Until the control plane has nothing left to do but leases."""
        end = time.monotonic() + limit
        used = self.cpu_seconds()
        while time.monotonic() < end:
            time.sleep(1)
            before, used = used, self.cpu_seconds()
            if used - before < cores:
                return

    def cpu_seconds(self):
        """Of the whole control plane."""
        return machine.group_seconds(self.layout.cgroup)

    # --- programs ---------------------------------------------------------------------------------

    def make(self, program, objects, watched, count, hands, limit):
        """Creates objects and waits until `count` of the watched kind run; what it told."""
        file = self._logs / "objects.jsonl"
        file.write_text("".join(json.dumps(each) + "\n" for each in objects))
        argv = [program, self.layout.kubeconfig, file, watched, count, hands, limit]
        done = subprocess.run(ending_with_us(argv, first=self.first), text=True, check=False,
                              capture_output=True, env=environment(), stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise Failure(done.stderr.strip() or f"make_objects ended with {done.returncode}")
        return json.loads(done.stdout)


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class Operator(Program):
    """paddle-operator outside of the cluster, as its administrator, leading."""

    def __init__(self, program, cluster, log):
        self._metrics, health = (f"127.0.0.1:{port}" for port in free_ports(2))
        argv = [program, "--controllers=paddlejob", "--leader-elect",
                f"--kubeconfig={cluster.layout.kubeconfig}",
                f"--metrics-bind-address={self._metrics}", f"--health-probe-bind-address={health}"]
        super().__init__(ending_with_us(argv, first=cluster.first), log, POD_NAMESPACE=SYSTEM)
        try:
            self.wait_until("the operator", self._leads, 60)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def metrics(self):
        link = http.client.HTTPConnection(self._metrics, timeout=5)
        with contextlib.closing(link):
            link.request("GET", "/metrics")
            return link.getresponse().read().decode()

    def _leads(self):
        return any(line.startswith("paddle_leader{") and line.endswith(" 1")
                   for line in self.metrics().splitlines())

    def cpu_seconds(self):
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory_mib(self):
        """(now, at most so far)"""
        found = dict(line.split(":", 1) for line in
                     Path(f"/proc/{self.process.pid}/status").read_text().splitlines())
        return tuple(int(found[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
