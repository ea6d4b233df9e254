# SPDX-License-Identifier: Apache-2.0
"""The host of a cluster: pid 1 of namespaces of its own, which only reaps, and its child, which
starts the control plane and the nodes, waits until all are ready, and then serves the verbs. When
either ends, the kernel ends every process of the cluster.

    python3 -m paddle_tools.testbed.host STATE PROGRESS

PROGRESS is a descriptor for events, one JSON object a line.
"""
import contextlib
import functools
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.paths import TOOLS
from paddle_tools.testbed import (
    cgroups,
    configs,
    control_socket,
    mounts,
    network,
    node_images,
    optional_parts,
    pki,
    syscalls,
)
from paddle_tools.testbed.api_client import ApiClient
from paddle_tools.testbed.layout import DNS_READY_PORT, HOST, Layout, load, node_name
from paddle_tools.testbed.process import ManagedProcess, accepts_connections, environment, tail

LIMIT = 120  # seconds for anything to become ready: a machine may be busy


class NodeProcess:
    """A node's process, and the events that it reports."""

    def __init__(self, number: int, pid: int, events: int) -> None:
        self.number, self.pid = number, pid
        self.running = False
        self.notes: list[tuple[str, str]] = []
        self._events, self._text = events, b""
        os.set_blocking(events, False)

    def read_events(self) -> list[tuple[str, str]]:
        """Reads the events since the last call; returns the new ends of programs."""
        with contextlib.suppress(BlockingIOError):
            while more := os.read(self._events, 4096):
                self._text += more
        *lines, self._text = self._text.split(b"\n")
        new_notes = []
        for event in map(json.loads, lines):
            self.running = self.running or "running" in event
            if "ended" in event:
                new_notes.append((event["part"], event["ended"]))
        self.notes += new_notes
        return new_notes

    def close(self) -> None:
        os.close(self._events)


class Host:
    def __init__(self, layout: Layout, progress: int) -> None:
        self.layout = layout
        self.processes: list[ManagedProcess] = []
        self.nodes: dict[int, NodeProcess] = {}
        self._progress = os.fdopen(progress, "w", buffering=1)

    @functools.cached_property
    def api(self) -> ApiClient:
        """Can be used once the certificates are made."""
        return ApiClient(self.layout)

    def send_event(self, **event: object) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):  # the reader is gone
            print(json.dumps(event), file=self._progress)

    # --- start ------------------------------------------------------------------------------------

    def start_cluster(self) -> None:
        layout, programs = self.layout, self.layout.programs
        self.set_up_mounts()
        network.set_up_host(layout)
        pki.make(layout)
        pki.write_kubeconfigs(layout)
        configs.write(layout, mounts.snapshotter(layout.state))
        node_images.write(layout.state / "images.tar", Path(programs["busybox"]))
        self.start("etcd", *configs.etcd(layout.state / "etcd"))
        self.start("kube-apiserver", *configs.apiserver(layout))
        for number in layout.node_numbers():
            self.start_node(number)
        with self.step("API server"):
            self.wait("the API server", self.api.ready)
        self.start("kube-controller-manager", *configs.controller_manager(layout))
        self.start("kube-scheduler", *configs.scheduler(layout))
        self.start("coredns", "-conf", layout.config / "Corefile")
        names = {node_name(each) for each in layout.node_numbers()}
        with self.step(f"{layout.nodes} nodes Ready"):
            self.wait("the nodes", lambda: self.api.ready_nodes() >= names)
        with self.step("name service and accounts"):
            self.wait("the DNS server", lambda: accepts_connections(HOST, DNS_READY_PORT))
            self.wait("the default service account", self.api.pods_may_be_created)
        for name, argument in layout.parts.items():
            if name in optional_parts.START:
                with self.step(name):
                    optional_parts.START[name](self, argument)

    def set_up_mounts(self) -> None:
        layout = self.layout
        needed = [layout.state, Path(__file__).resolve(),
                  *(Path(each).resolve() for each in layout.programs.values())]
        mounts.make_private(needed)
        socket.sethostname(layout.name)
        (layout.state / "etcd").mkdir()
        mounts.mount_tmpfs(layout.state / "etcd", "mode=700,size=1g")

    def start(self, name: str, *argv: str | Path, program: str | None = None,
              env: dict[str, str] | None = None) -> ManagedProcess:
        """Starts a program of the control plane or of an optional part."""
        words = [self.layout.programs[program or name], *argv]
        started = ManagedProcess(name, words, self.layout.logs, env).start()
        self.processes.append(started)
        return started

    def start_node(self, number: int) -> None:
        layout, name = self.layout, node_name(number)
        theirs, ours = os.pipe()[::-1]
        argv = [sys.executable, "-B", "-m", "paddle_tools.testbed.node", layout.state, number,
                theirs]
        env = environment(PYTHONPATH=str(TOOLS))
        with open(layout.logs / f"{name}.log", "ab") as log:
            pid = syscalls.spawn(argv, env, keep=[theirs], output=log.fileno(),
                                 before=lambda child: network.connect_node(layout, number, child))
        os.close(theirs)
        self.nodes[number] = NodeProcess(number, pid, ours)
        self.route_services()

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        self.send_event(message=f"{what}: {time.monotonic() - start:.1f} s")

    def wait(self, what: str, look: Callable[[], object], limit: float = LIMIT) -> None:
        """Waits until look() is true; OSError counts as false. Fails as soon as a program ended."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if look():
                    return
            for name, exit_reason in self.ended_processes():
                raise ToolError(f"{name} {exit_reason}; the end of its log:\n" + self.log_end(name))
            time.sleep(0.05)
        logs = "\n".join(f"--- {each.name}\n{tail(each.log, 8)}" for each in self.processes)
        raise ToolError(f"{what} did not become ready within {limit} s; the ends of the logs:\n"
                        f"{logs}")

    def log_end(self, name: str) -> str:
        return tail(self.layout.logs / f"{name}.log")

    def ended_processes(self) -> Iterator[tuple[str, str]]:
        for each in self.processes:
            if reason := each.exit_reason:
                yield each.name, reason
        for node in self.nodes.values():
            yield from node.read_events()

    # --- the verbs --------------------------------------------------------------------------------

    def serve(self) -> None:
        server = control_socket.listen(self.layout)
        self.send_event(ready=True)
        self._progress.close()
        while True:
            if select.select([server], [], [], 0.5)[0]:
                control_socket.answer(server, self.handle)
            for node in list(self.nodes.values()):
                node.read_events()
                if os.waitpid(node.pid, os.WNOHANG)[0]:
                    self.remove_node(node)

    def handle(self, request: Json) -> tuple[Json, int | None]:
        """Serves one request: returns (answer, descriptor or None)."""
        verbs = {"node-kill": self.kill_node, "node-start": self.restart_node,
                 "link-down": lambda number: self.set_link(number, "down"),
                 "link-up": lambda number: self.set_link(number, "up")}
        if request["do"] in verbs:
            return {"message": verbs[request["do"]](request["node"])}, None
        if request["do"] == "enter":
            number = request["node"]
            return {}, os.pidfd_open(self.node(number).pid if number else 1)
        return self.status(), None

    def node(self, number: int) -> NodeProcess:
        if number not in self.nodes:
            name = node_name(number)
            raise ToolError(f"{name} is off; start it: tools/testbed --name {self.layout.name} "
                            f"node-start {number}")
        return self.nodes[number]

    def kill_node(self, number: int) -> str:
        """Kills the node's processes at once, as a power failure does."""
        if number not in self.nodes:
            return f"{node_name(number)} is off already"
        node = self.nodes[number]
        os.kill(node.pid, signal.SIGKILL)
        os.waitpid(node.pid, 0)  # returns when every process of the node has ended
        self.remove_node(node)
        return f"{node_name(number)} is off"

    def remove_node(self, node: NodeProcess) -> None:
        """After its end: closes its link and removes its control groups."""
        node.close()
        del self.nodes[node.number]
        network.disconnect_node(node.number)
        cgroups.remove(self.layout, node_name(node.number))
        self.route_services()

    def restart_node(self, number: int) -> str:
        if number in self.nodes:
            return f"{node_name(number)} is on already"
        cgroups.make(self.layout)
        self.start_node(number)
        node = self.nodes[number]

        def look() -> bool:
            for part, exit_reason in node.read_events():
                raise ToolError(f"{part} {exit_reason}; the end of its log:\n{self.log_end(part)}")
            return node.running

        self.wait(node_name(number), look)
        return f"{node_name(number)} is on"

    def route_services(self) -> None:
        if self.nodes:
            network.route_services_through(self.layout, min(self.nodes))

    def set_link(self, number: int, state: str) -> str:
        self.node(number)
        network.set_link(number, state)
        return f"the link of {node_name(number)} is {state}"

    def status(self) -> Json:
        ready = set()
        with contextlib.suppress(OSError):
            ready = self.api.ready_nodes()
        nodes = {node_name(i): {"on": i in self.nodes, "ready": node_name(i) in ready,
                                "notes": getattr(self.nodes.get(i), "notes", [])}
                 for i in self.layout.node_numbers()}
        return {"nodes": nodes, "memory": memory(),
                "parts": {each.name: each.exit_reason or "runs" for each in self.processes}}


def memory() -> int:
    """Bytes of all processes of the cluster; shared pages are counted once."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/smaps_rollup"):
        with contextlib.suppress(OSError):
            total += sum(int(line.split()[1]) * 1024 for line in path.read_text().splitlines()
                         if line.startswith("Pss:"))
    return total


def reap_until(child: int) -> int:
    """The work of pid 1: reaps until `child` ends; returns its exit code."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def main(state: str, progress: str) -> int:
    child = os.fork()
    if child:
        os.close(int(progress))
        return 1 if reap_until(child) else 0
    host = Host(load(state), int(progress))
    try:
        host.start_cluster()
        host.serve()
    except (ToolError, OSError) as failure:
        host.send_event(failure=str(failure))
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
