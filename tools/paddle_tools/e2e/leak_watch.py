# SPDX-License-Identifier: Apache-2.0
"""Canary keys through every scenario: looks for them where none may be, while clusters live.

The keys of the S3 server, which sources and volumes use, and the password of the metadata server
are new for each cluster or run. While a scenario runs, this reads command lines of all processes,
logs of all pods and kubelets, lines of the API server's audit log, and every version of every
object but Secrets; at its end, what managers, runtimes and mount pods answer over HTTP, and files
of nodes that other users can read. A key that was found is named in what found() returns, never
repeated.
"""
import base64
import contextlib
import functools
import http.client
import os
import ssl
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import Cluster, ScenarioFailed
from paddle_tools.e2e.http_replies import replies
from paddle_tools.e2e.secret_leaks import readable_files
from paddle_tools.testbed import layout

# Paths of the API; those of definitions appear when the operator is installed.
OBJECTS = ("/api/v1/pods", "/api/v1/events", "/api/v1/configmaps", "/api/v1/services",
           "/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims", "/api/v1/nodes",
           "/apis/apps/v1/statefulsets", "/apis/apps/v1/deployments", "/apis/apps/v1/daemonsets",
           "/apis/batch/v1/jobs", "/apis/batch.paddlepaddle.org/v1/paddlejobs",
           "/apis/batch.paddlepaddle.org/v1alpha1/samplesets",
           "/apis/batch.paddlepaddle.org/v1alpha1/samplejobs")
PROCESSES = Path("/proc")
NEW_FOR, NOW_AND_THEN = 10, 5  # looks, of which there are ten in a second
LONGEST_KEY = 200
LARGEST_STEP = 16 << 20
AGAIN_AFTER = 2.0  # seconds, after a watch has ended
Secrets = dict[str, bytes]  # what it is -> the value


class Finder:
    """The keys that are looked for, and where they were found. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._secrets: Secrets = {}
        self._found: dict[str, None] = {}

    def add(self, secrets: Secrets) -> None:
        with self._lock:
            self._secrets = {**self._secrets, **{what: key for what, key in secrets.items() if key}}

    def secrets(self) -> Secrets:
        with self._lock:
            return dict(self._secrets)

    def look(self, where: str, text: bytes) -> None:
        for what, key in self.secrets().items():
            if key in text:
                self.note(f"{what} is in {where}")

    def note(self, sentence: str) -> None:
        with self._lock:
            self._found[sentence] = None

    def take(self) -> list[str]:
        """What was found since the last call."""
        with self._lock:
            found = list(self._found)
            self._found = {}
            return found


class CommandLines:
    """Looks at every process: at a new one each time, at the others now and then, because a process
    may begin another program at any time, as those of containers do."""

    def __init__(self, finder: Finder, processes: Path = PROCESSES) -> None:
        self._finder, self._processes = finder, processes
        self._looks: dict[str, int] = {}

    def look(self) -> None:
        living = {name for name in os.listdir(self._processes) if name.isdigit()}
        self._looks = {pid: self._looks.get(pid, 0) + 1 for pid in living}
        for pid, count in self._looks.items():
            if count > NEW_FOR and count % NOW_AND_THEN:
                continue
            try:
                line = (self._processes / pid / "cmdline").read_bytes()
            except OSError:
                continue
            self._finder.look(f"the command line of {program_of(line)}", line)


def program_of(command_line: bytes) -> str:
    """The program, and its verb if it has one. Some processes have their whole command line in its
    first word."""
    program, *rest = command_line.replace(b"\0", b" ").decode(errors="replace").split() or [""]
    verb = rest[0] if rest and rest[0].isalpha() and len(rest[0]) < 20 else ""
    return f"{program} {verb}".strip()


class Files:
    """Reads what is appended to the files of some patterns beneath a directory."""

    def __init__(self, finder: Finder, top: Path, patterns: tuple[str, ...]) -> None:
        self._finder, self._top, self._patterns = finder, top, patterns
        self._read: dict[tuple[int, int], int] = {}

    def look(self) -> None:
        for pattern in self._patterns:
            for path in self._paths(pattern):
                with contextlib.suppress(OSError):  # it went with its pod
                    self._look_at(path)

    def _paths(self, pattern: str) -> list[Path]:
        """Directories may go while they are searched; the next look is a second later."""
        try:
            return list(self._top.glob(pattern))
        except OSError:
            return []

    def _look_at(self, path: Path) -> None:
        with open(path, "rb") as file:
            about = path.stat()
            at = self._read.get((about.st_dev, about.st_ino), 0)
            if about.st_size == at:
                return
            file.seek(max(0, at - LONGEST_KEY) if about.st_size > at else 0)
            data = file.read(LARGEST_STEP)
            self._read[about.st_dev, about.st_ino] = file.tell()
            self._finder.look(f"the log {path.relative_to(self._top)}", data)


class Objects:
    """Reads every change of some objects from an API server, until stopped. `connect` makes a
    connection to it."""

    def __init__(self, finder: Finder, connect: Callable[[], http.client.HTTPConnection],
                 stop: threading.Event, paths: tuple[str, ...] = OBJECTS) -> None:
        self._finder, self._connect, self._stop = finder, connect, stop
        for path in paths:
            threading.Thread(target=self._follow, args=(path,), daemon=True).start()

    def _follow(self, path: str) -> None:
        while not self._stop.is_set():
            # The server restarts, or does not know these objects yet.
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._watch(path)
            self._stop.wait(AGAIN_AFTER)

    def _watch(self, path: str) -> None:
        wire = self._connect()
        try:
            wire.request("GET", f"{path}?watch=1&timeoutSeconds=25")
            answer = wire.getresponse()
            if answer.status != 200:
                return
            for line in answer:
                if self._stop.is_set():
                    return
                self._finder.look(f"an object of {path}", line)
        finally:
            wire.close()


def connect(bed: layout.Layout) -> http.client.HTTPConnection:
    """To the API server of a cluster, with the rights of the test bed itself."""
    tls = ssl.create_default_context(cafile=bed.pki / "ca.crt")
    tls.load_cert_chain(bed.pki / "bed.crt", bed.pki / "bed.key")
    return http.client.HTTPSConnection(bed.outside_address, layout.API_PORT, timeout=30,
                                       context=tls)


class LeakWatch:
    """One for a run of scenarios. Clusters are added when they are up, and looked at before they go
    down."""

    def __init__(self) -> None:
        self._finder = Finder()
        self._stop = threading.Event()
        self._stops: dict[str, threading.Event] = {}
        self._clusters: dict[str, Cluster] = {}
        self._watch = threading.Thread(target=self._run, daemon=True)
        self._watch.start()

    def _run(self) -> None:
        processes = CommandLines(self._finder)
        logs = Files(self._finder, layout.BASE, (
            "*/node*/var/log/pods/*/*/*.log", "*/logs/node*kubelet*", "*/audit.log"))
        turn = 0
        while not self._stop.wait(0.1):
            processes.look()
            turn += 1
            if turn % 10 == 0:
                logs.look()

    def add(self, cluster: Cluster) -> None:
        """Begins to watch a cluster that is up."""
        if cluster.name in self._clusters:
            return
        self._finder.add(keys_of(cluster))
        self._clusters[cluster.name] = cluster
        bed = layout.load(Path(cluster.kubeconfig).parent)
        stop = self._stops[cluster.name] = threading.Event()
        Objects(self._finder, functools.partial(connect, bed), stop)

    def look(self, name: str) -> None:
        """What only a cluster that is up shows."""
        cluster = self._clusters.get(name)
        if cluster is None:
            return
        for where, text in replies(cluster):
            self._finder.look(where, text)
        secrets = {what: key.decode() for what, key in self._finder.secrets().items()}
        for node in juicefs.nodes(cluster):
            for found in readable_files(cluster, node, list(secrets.values())):
                self._finder.note(f"a key is in {node}:{found}")

    def remove(self, name: str) -> None:
        """Looks at a cluster for the last time, as far as it still answers."""
        if name not in self._clusters:
            return
        # A cluster that a failed scenario leaves may answer nothing any more.
        with contextlib.suppress(ScenarioFailed, OSError, ValueError, subprocess.SubprocessError):
            self.look(name)
        self._stops.pop(name).set()
        del self._clusters[name]

    def found(self) -> list[str]:
        return self._finder.take()

    def end(self) -> None:
        self._stop.set()
        for each in self._stops.values():
            each.set()
        self._watch.join()


def keys_of(cluster: Cluster) -> Secrets:
    """The keys that scenarios give to sources, volumes and metadata servers."""
    secrets = {"the password of the metadata server": juicefs.METADATA_PASSWORD.encode()}
    if (Path(cluster.kubeconfig).parent / "s3.env").exists():
        secrets["the key of source and volume"] = juicefs.keys(cluster)[
            "AWS_SECRET_ACCESS_KEY"].encode()
    encoded = {f"{what}, as base64": base64.b64encode(key)[:-4] for what, key in secrets.items()}
    return {**secrets, **encoded}

