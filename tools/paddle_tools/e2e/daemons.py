# SPDX-License-Identifier: Apache-2.0
"""Servers that a scenario brings, run on the cluster's host: pods reach them at HOST.

Their files are in a directory of the cluster's own, which the host sees for sure. All of them end
with the scenario, the last one first; should the scenario be killed, the kernel ends them.
"""
import contextlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from paddle_tools.e2e.cluster import TOOLS, Failed

HOST = "10.88.0.1"


class Daemons:
    """with Daemons(cluster, "hdfs") as daemons: ..."""

    def __init__(self, cluster, name):
        self._cluster = cluster
        self._running = []
        self.place = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=Path(cluster.kubeconfig).parent))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _, process, _ in reversed(self._running):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        shutil.rmtree(self.place)

    def start(self, name, *argv):
        log = self.place / f"{name}.out"
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [TOOLS / "testbed", "--name", self._cluster.name, "exec", "host", "--",
                 *map(str, argv)], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)
        self._running.append((name, process, log))

    def call(self, *argv, limit=300):
        """What a command prints on the host."""
        return self._cluster.on("host", *argv, limit=limit)

    def wait(self, what, look, limit=90):
        """Until look() is true; OSError means not yet. When it does not come, the logs are told."""
        def alive():
            for name, process, _ in self._running:
                if process.poll() is not None:
                    raise Failed(f"{what}: {name} ended with exit code {process.returncode}")
            with contextlib.suppress(OSError):
                return look()
            return False
        try:
            self._cluster.wait(what, alive, limit)
        except Failed as failure:
            raise Failed(f"{failure}\n" + "\n".join(map(self._tail, self._running))) from failure

    @staticmethod
    def _tail(running):
        name, _, log = running
        lines = log.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"--- {name}", *(line[:300] for line in lines)])
