# SPDX-License-Identifier: Apache-2.0
"""The host of a cluster: pid 1 of namespaces of its own, which only reaps, and beside it the
process that starts the control plane and the nodes, waits until all is well, and then serves the
verbs. When either ends, the kernel ends everything.

    python3 -m paddle_tools.testbed.host STATE PROGRESS    (progress: a descriptor, one JSON object a line)
"""
import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from pathlib import Path

from paddle_tools.paths import TOOLS
from paddle_tools.testbed import cgroups, configs, mounts, network, pki
from paddle_tools.testbed import control_socket as control
from paddle_tools.testbed import node_images as image
from paddle_tools.testbed import parts as extras
from paddle_tools.testbed import syscalls as kernel
from paddle_tools.testbed.api_client import Api
from paddle_tools.testbed.layout import DNS_READY_PORT, HOST, Failure, load, node_name
from paddle_tools.testbed.process import Part, answers, environment, tail

LIMIT = 120  # seconds for anything to become ready: a machine may be busy


class NodeProcess:
    """A node as its host sees it."""

    def __init__(self, number, pid, events):
        self.number, self.pid = number, pid
        self.running, self.notes = False, []
        self._events, self._text = events, b""
        os.set_blocking(events, False)

    def listen(self):
        """Takes in what it told; the new notes."""
        with contextlib.suppress(BlockingIOError):
            while more := os.read(self._events, 4096):
                self._text += more
        *lines, self._text = self._text.split(b"\n")
        news = []
        for event in map(json.loads, lines):
            self.running = self.running or "running" in event
            if "ended" in event:
                news.append((event["part"], event["ended"]))
        self.notes += news
        return news

    def forget(self):
        os.close(self._events)


class Host:
    def __init__(self, layout, progress):
        self.layout, self.api = layout, None
        self.parts, self.nodes = [], {}
        self._progress = os.fdopen(progress, "w", buffering=1)

    def tell(self, **event):
        with contextlib.suppress(BrokenPipeError, ValueError):  # nobody is left to hear it
            print(json.dumps(event), file=self._progress)

    # --- start ------------------------------------------------------------------------------------

    def up(self):
        layout, programs = self.layout, self.layout.programs
        self.separate()
        network.make_host(layout)
        pki.make(layout)
        pki.write_kubeconfigs(layout)
        configs.write(layout, mounts.snapshotter(layout.state))
        image.write(layout.state / "images.tar", Path(programs["busybox"]))
        self.api = Api(layout)
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
            self.wait("the DNS server", lambda: answers(HOST, DNS_READY_PORT))
            self.wait("the default service account", self.api.pods_may_be_created)
        for name, argument in layout.parts.items():
            if name in extras.START:
                with self.step(name):
                    extras.START[name](self, argument)

    def separate(self):
        layout = self.layout
        needed = [layout.state, Path(__file__).resolve(),
                  *(Path(each).resolve() for each in layout.programs.values())]
        mounts.leave_the_machine(needed)
        socket.sethostname(layout.name)
        (layout.state / "etcd").mkdir()
        mounts.tmpfs(layout.state / "etcd", "mode=700,size=1g")

    def start(self, name, *argv, program=None, env=None):
        """A part of the control plane, or beside it."""
        argv = [self.layout.programs[program or name], *argv]
        self.parts.append(Part(name, argv, self.layout.logs, env).start())
        return self.parts[-1]

    def start_node(self, number):
        layout, name = self.layout, node_name(number)
        theirs, ours = os.pipe()[::-1]
        argv = [sys.executable, "-B", "-m", "paddle_tools.testbed.node", layout.state, number, theirs]
        env = environment(PYTHONPATH=str(TOOLS))
        with open(layout.logs / f"{name}.log", "ab") as log:
            pid = kernel.spawn(argv, env, keep=[theirs], output=log.fileno(),
                               before=lambda child: network.connect_node(layout, number, child))
        os.close(theirs)
        self.nodes[number] = NodeProcess(number, pid, ours)
        self.choose_way_to_services()

    @contextlib.contextmanager
    def step(self, what):
        start = time.monotonic()
        yield
        self.tell(say=f"{what}: {time.monotonic() - start:.1f} s")

    def wait(self, what, look, limit=LIMIT):
        """Until look() is true; OSError means not yet. Fails as soon as a part has ended."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if look():
                    return
            for name, trouble in self.troubles():
                raise Failure(f"{name} {trouble}; the end of its log:\n" + self.shown(name))
            time.sleep(0.05)
        logs = "\n".join(f"--- {part.name}\n{tail(part.log, 8)}" for part in self.parts)
        raise Failure(f"{what} did not become ready within {limit} s; the ends of the logs:\n"
                      f"{logs}")

    def shown(self, part):
        return tail(self.layout.logs / f"{part}.log")

    def troubles(self):
        for part in self.parts:
            if part.trouble:
                yield part.name, part.trouble
        for node in self.nodes.values():
            yield from node.listen()

    # --- the verbs --------------------------------------------------------------------------------

    def serve(self):
        server = control.listen(self.layout)
        self.tell(ready=True)
        self._progress.close()
        while True:
            if select.select([server], [], [], 0.5)[0]:
                control.answer(server, self.handle)
            for node in list(self.nodes.values()):
                node.listen()
                if os.waitpid(node.pid, os.WNOHANG)[0]:
                    self.forget(node)

    def handle(self, request):
        """(answer, descriptor or None)"""
        verbs = {"node-kill": self.kill_node, "node-start": self.revive_node,
                 "link-down": lambda number: self.set_link(number, "down"),
                 "link-up": lambda number: self.set_link(number, "up")}
        if request["do"] in verbs:
            return {"said": verbs[request["do"]](request["node"])}, None
        if request["do"] == "enter":
            number = request["node"]
            return {}, os.pidfd_open(self.node(number).pid if number else 1)
        return self.status(), None

    def node(self, number):
        if number not in self.nodes:
            name = node_name(number)
            raise Failure(f"{name} is off; start it: tools/testbed --name {self.layout.name} "
                          f"node-start {number}")
        return self.nodes[number]

    def kill_node(self, number):
        """As if its plug was pulled."""
        if number not in self.nodes:
            return f"{node_name(number)} is off already"
        node = self.nodes[number]
        os.kill(node.pid, signal.SIGKILL)
        os.waitpid(node.pid, 0)  # ends when every process of the node has ended
        self.forget(node)
        return f"{node_name(number)} is off"

    def forget(self, node):
        node.forget()
        del self.nodes[node.number]
        network.disconnect_node(node.number)
        cgroups.remove(self.layout, node_name(node.number))
        self.choose_way_to_services()

    def revive_node(self, number):
        if number in self.nodes:
            return f"{node_name(number)} is on already"
        cgroups.make(self.layout)
        self.start_node(number)
        node = self.nodes[number]

        def look():
            for part, trouble in node.listen():
                raise Failure(f"{part} {trouble}; the end of its log:\n{self.shown(part)}")
            return node.running
        self.wait(node_name(number), look)
        return f"{node_name(number)} is on"

    def choose_way_to_services(self):
        if self.nodes:
            network.services_via(self.layout, min(self.nodes))

    def set_link(self, number, state):
        self.node(number)
        network.set_link(number, state)
        return f"the link of {node_name(number)} is {state}"

    def status(self):
        ready = set()
        with contextlib.suppress(OSError):
            ready = self.api.ready_nodes()
        nodes = {node_name(i): {"on": i in self.nodes, "ready": node_name(i) in ready,
                                "notes": getattr(self.nodes.get(i), "notes", [])}
                 for i in self.layout.node_numbers()}
        return {"nodes": nodes, "memory": memory(),
                "parts": {part.name: part.trouble or "runs" for part in self.parts}}


def memory():
    """Bytes of all processes in here; shared pages are counted once."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/smaps_rollup"):
        with contextlib.suppress(OSError):
            total += sum(int(line.split()[1]) * 1024 for line in path.read_text().splitlines()
                         if line.startswith("Pss:"))
    return total


def reap_until(child):
    """What pid 1 does: its exit code is the child's, and its end is the end of all."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def main(state, progress):
    child = os.fork()
    if child:
        os.close(int(progress))
        return reap_until(child) and 1
    host = Host(load(state), int(progress))
    try:
        host.up()
        host.serve()
    except Failure as failure:
        host.tell(failure=str(failure))
    except OSError as error:
        host.tell(failure=str(error))
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
