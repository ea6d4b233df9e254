# SPDX-License-Identifier: Apache-2.0
"""Servers that a scenario starts on the cluster's host: pods reach them at HOST.

Their files are in the cluster's state directory, which the host can read. All of them end with the
scenario, in reverse order; if the scenario is killed, the kernel ends them.
"""
import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from paddle_tools.e2e.cluster import TOOLS, Cluster, ScenarioFailed

HOST = "10.88.0.1"


class Daemons:
    """with Daemons(cluster, "hdfs") as daemons: ..."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster = cluster
        self._running: list[tuple[str, subprocess.Popen[bytes], Path]] = []
        self.directory = Path(tempfile.mkdtemp(prefix=f"{name}.",
                                               dir=Path(cluster.kubeconfig).parent))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for _name, process, _log in reversed(self._running):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
        shutil.rmtree(self.directory)

    def start(self, name: str, *argv: object) -> None:
        log = self.directory / f"{name}.out"
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [TOOLS / "testbed", "--name", self._cluster.name, "exec", "host", "--",
                 *map(str, argv)], stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT)
        self._running.append((name, process, log))

    def call(self, *argv: object, limit: float = 300) -> str:
        """Runs a command on the host; returns its output."""
        return self._cluster.on("host", *argv, limit=limit)

    def wait(self, what: str, look: Callable[[], object], limit: float = 90) -> None:
        """Waits until look() is true; OSError counts as false. A failure shows the logs' ends."""
        def alive() -> object:
            for name, process, _ in self._running:
                if process.poll() is not None:
                    raise ScenarioFailed(f"{what}: {name} ended with exit code "
                                         f"{process.returncode}")
            with contextlib.suppress(OSError):
                return look()
            return False
        try:
            self._cluster.wait(what, alive, limit)
        except ScenarioFailed as failure:
            logs = "\n".join(map(self._tail, self._running))
            raise ScenarioFailed(f"{failure}\n{logs}") from failure

    @staticmethod
    def _tail(running: tuple[str, Any, Path]) -> str:
        name, _, log = running
        lines = log.read_text(errors="replace").splitlines()[-15:]
        return "\n".join([f"--- {name}", *(line[:300] for line in lines)])
