# SPDX-License-Identifier: Apache-2.0
"""One node: pid 1 of namespaces of its own, with a /var and a /run of its own on the machine's file
system. Starts containerd, kubelet, kube-proxy and perhaps a firewall, starts them again when they
end, and reaps what pods leave behind. Whoever kills it has switched the node off.

    python3 -m paddle_tools.testbed.node STATE NUMBER EVENTS    (events: a descriptor, one JSON object a line)
"""
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from paddle_tools.testbed import configs, mounts, network
from paddle_tools.testbed import syscalls as kernel
from paddle_tools.testbed.api_client import Api
from paddle_tools.testbed.layout import API_PORT, HOST, load, node_name
from paddle_tools.testbed.process import Part, answers, environment, how_it_ended, run

SOCKET = Path("/run/containerd/containerd.sock")
IMPORTED = Path("/var/lib/bed-images")


class Node:
    def __init__(self, layout, number, events):
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
        self.firewall = None
        if layout.policies:
            self.firewall = self._part("kube-router", programs["kube-router"],
                                       *configs.policy_flags(layout, number))

    def _part(self, name, *argv):
        return Part(f"{self.name}-{name}", argv, self.layout.logs, self._env)

    def tell(self, **event):
        print(json.dumps(event), file=self._events)

    def run(self):
        self.separate()
        network.make_node(self.layout, self.number)
        self.containerd.start()
        self.wait(self.containerd, lambda: socket_answers(SOCKET))
        self.import_images()
        self.wait(self.containerd, lambda: answers(HOST, API_PORT))
        for stale in Path("/var/lib/kubelet/plugins_registry").glob("*.sock"):
            stale.unlink()
        self.kubelet.start()
        self.proxy.start()
        if self.firewall:
            # It would end when it does not find its node.
            api = Api(self.layout)
            self.wait(self.kubelet, lambda: api.get(f"/api/v1/nodes/{self.name}"))
            self.firewall.start()
        self.tell(running=True)
        self.keep_running()

    def separate(self):
        """Its own name, processes, /var and /run; what pods mount is seen on this node only."""
        socket.sethostname(self.name)
        mounts.fresh_proc()
        var = self.layout.node_state(self.number) / "var"
        for each in ("log", "lib/kubelet", "lib/cni/conf", "cache", "tmp"):
            (var / each).mkdir(parents=True, exist_ok=True)
        (var / "tmp").chmod(0o1777)
        for link, target in {"run": "/run", "lock": "/run/lock"}.items():
            if not (var / link).is_symlink():
                (var / link).symlink_to(target)
        (var / "lib/cni/conf/10-pods.conflist").write_text(
            json.dumps(configs.cni(self.layout, self.number)))
        kernel.mount(var, "/var", None, kernel.MS_BIND)
        self.know_the_nodes()
        mounts.tmpfs("/run")
        Path("/run/lock").mkdir()
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_SHARED)

    def know_the_nodes(self):
        """Pods on the host network take /etc/hosts from the node, and ask it for the node's name."""
        hosts = self.layout.node_state(self.number) / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(
            f"{address} {node_name(each)}\n"
            for each in self.layout.node_numbers()
            for address in self.layout.node_addresses(each)))
        kernel.mount(hosts, "/etc/hosts", None, kernel.MS_BIND)

    def import_images(self):
        """Once: they survive when the node is switched off."""
        if not IMPORTED.exists():
            run(Path(self.layout.programs["containerd"]).parent / "ctr", "-n", "k8s.io", "images",
                "import", self.layout.state / "images.tar", env=self._env)
            IMPORTED.touch()

    def wait(self, part, look):
        """For as long as it takes: the host gives up."""
        while True:
            with contextlib.suppress(OSError):
                if look():
                    return
            if trouble := part.trouble:
                self.tell(part=part.name, ended=trouble)
                time.sleep(1)
                part.start()
            time.sleep(0.03)

    def keep_running(self):
        parts = [self.containerd, self.kubelet, self.proxy, *([self.firewall] if self.firewall else [])]
        while True:
            pid, status = os.waitpid(-1, 0)
            for part in parts:
                if part.process.pid == pid:
                    self.tell(part=part.name,
                              ended=how_it_ended(os.waitstatus_to_exitcode(status)))
                    part.process.returncode = 0  # so that nobody waits for it again
                    time.sleep(1)
                    part.start()


def socket_answers(path):
    with socket.socket(socket.AF_UNIX) as each:
        each.connect(str(path))
        return True


def main(state, number, events):
    node = Node(load(state), int(number), int(events))
    try:
        node.run()
    except Exception as error:  # pylint: disable=broad-except  # whatever it is: the host tells it
        node.tell(part=node.name, ended=f"could not start: {error}")
        raise


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, subprocess.SubprocessError):
        main(*sys.argv[1:])
