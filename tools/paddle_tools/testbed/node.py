# SPDX-License-Identifier: Apache-2.0
"""One node: pid 1 of namespaces of its own, with a /var and a /run of its own on the machine's file
system. Starts containerd, kubelet, kube-proxy and, with the part `policies`, a firewall; restarts
them when they end, and reaps what pods leave behind. Killing this process switches the node off.

    python3 -m paddle_tools.testbed.node STATE NUMBER EVENTS

EVENTS is a descriptor for events, one JSON object a line.
"""
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from paddle_tools.testbed import configs, mounts, network, syscalls
from paddle_tools.testbed.api_client import ApiClient
from paddle_tools.testbed.layout import API_PORT, HOST, Layout, load, node_name
from paddle_tools.testbed.process import (
    ManagedProcess,
    accepts_connections,
    describe_exit,
    environment,
    run,
)

SOCKET = Path("/run/containerd/containerd.sock")
IMPORTED = Path("/var/lib/bed-images")  # exists when the images are imported


class Node:
    def __init__(self, layout: Layout, number: int, events: int) -> None:
        self.layout, self.number, self.name = layout, number, node_name(number)
        self._events = os.fdopen(events, "w", buffering=1)
        self._env = environment(layout.programs)
        programs = layout.programs
        self.containerd = self._part("containerd", programs["containerd"], "--config",
                                     f"{layout.config}/containerd.toml")
        self.kubelet = self._part("kubelet", programs["kubelet"],
                                  *configs.kubelet_flags(layout, number))
        self.proxy = self._part("kube-proxy", programs["kube-proxy"],
                                *configs.proxy_flags(layout, number))
        self.firewall: ManagedProcess | None = None
        if layout.enforces_policies:
            self.firewall = self._part("kube-router", programs["kube-router"],
                                       *configs.policy_flags(layout, number))

    def _part(self, name: str, *argv: str | Path) -> ManagedProcess:
        return ManagedProcess(f"{self.name}-{name}", argv, self.layout.logs, self._env)

    def send_event(self, **event: object) -> None:
        print(json.dumps(event), file=self._events)

    def run(self) -> None:
        self.set_up_mounts()
        network.set_up_node(self.layout, self.number)
        self.containerd.start()
        self.wait(self.containerd, lambda: socket_answers(SOCKET))
        self.import_images()
        self.wait(self.containerd, lambda: accepts_connections(HOST, API_PORT))
        for stale in Path(f"{self.layout.kubelet}/plugins_registry").glob("*.sock"):
            stale.unlink()
        self.kubelet.start()
        self.proxy.start()
        if self.firewall:
            # kube-router ends when it does not find its node.
            api = ApiClient(self.layout)
            self.wait(self.kubelet, lambda: api.get(f"/api/v1/nodes/{self.name}"))
            self.firewall.start()
        self.send_event(running=True)
        self.restart_when_ended()

    def set_up_mounts(self) -> None:
        """A host name, /proc, /var and /run of its own; only this node sees mounts of its pods."""
        socket.sethostname(self.name)
        mounts.mount_proc()
        var = self.layout.node_state(self.number) / "var"
        kubelet = self.layout.kubelet.removeprefix("/var/")
        for each in ("log", kubelet, "lib/cni/conf", "cache", "tmp"):
            (var / each).mkdir(parents=True, exist_ok=True)
        (var / "tmp").chmod(0o1777)
        for link, target in {"run": "/run", "lock": "/run/lock"}.items():
            if not (var / link).is_symlink():
                (var / link).symlink_to(target)
        (var / "lib/cni/conf/10-pods.conflist").write_text(
            json.dumps(configs.cni(self.layout, self.number)))
        syscalls.mount(var, "/var", None, syscalls.MS_BIND)
        self.write_hosts_file()
        mounts.mount_tmpfs("/run")
        Path("/run/lock").mkdir()
        syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_SHARED)

    def write_hosts_file(self) -> None:
        """Pods on the host network look the node's name up in the node's /etc/hosts."""
        hosts = self.layout.node_state(self.number) / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(
            f"{address} {node_name(each)}\n"
            for each in self.layout.node_numbers()
            for address in self.layout.node_addresses(each)))
        syscalls.mount(hosts, "/etc/hosts", None, syscalls.MS_BIND)

    def import_images(self) -> None:
        """Once: the images survive when the node is switched off."""
        if not IMPORTED.exists():
            run(Path(self.layout.programs["containerd"]).parent / "ctr", "-n", "k8s.io", "images",
                "import", self.layout.state / "images.tar", env=self._env)
            IMPORTED.touch()

    def wait(self, part: ManagedProcess, look: Callable[[], object]) -> None:
        """Waits until look() is true; restarts `part` when it ends. The host has the time limit."""
        while True:
            with contextlib.suppress(OSError):
                if look():
                    return
            if exit_reason := part.exit_reason:
                self.send_event(part=part.name, ended=exit_reason)
                time.sleep(1)
                part.start()
            time.sleep(0.03)

    def restart_when_ended(self) -> None:
        parts = [self.containerd, self.kubelet, self.proxy,
                 *([self.firewall] if self.firewall else [])]
        while True:
            pid, status = os.waitpid(-1, 0)
            for part in parts:
                if part.process and part.process.pid == pid:
                    self.send_event(part=part.name,
                                    ended=describe_exit(os.waitstatus_to_exitcode(status)))
                    part.process.returncode = 0  # it was reaped here
                    time.sleep(1)
                    part.start()


def socket_answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as each:
        each.connect(str(path))
        return True


def main(state: str, number: str, events: str) -> None:
    node = Node(load(state), int(number), int(events))
    try:
        node.run()
    except Exception as error:  # the host reports any error
        node.send_event(part=node.name, ended=f"could not start: {error}")
        raise


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, subprocess.SubprocessError):
        main(*sys.argv[1:])
