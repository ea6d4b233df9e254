# SPDX-License-Identifier: Apache-2.0
"""Looks for secrets where none may be: in command lines while a scenario runs, and at its end in
logs, events, objects and files that all users can read.

Files are read as a user without rights: only root can read the records that kubelet and containerd
keep of a container's environment.
"""
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import Cluster, expect

PLACES = ("/var/lib/kubelet", "/var/lib/juicefs", "/var/log", "/run", "/tmp", "/var/cache")


class SecretLeakCheck:
    """with SecretLeakCheck(cluster, secrets): ...; fails at its end when a secret was found."""

    def __init__(self, cluster: Cluster, secrets: Iterable[str]) -> None:
        self._cluster = cluster
        self._secrets = [each for each in secrets if each]
        self._seen: dict[str, bytes] = {}
        self._end = threading.Event()
        self._watch = threading.Thread(target=self._look_at_command_lines, daemon=True)

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._end.set()
        self._watch.join()
        if kind is None:
            self.check()

    def _look_at_command_lines(self) -> None:
        words = [each.encode() for each in self._secrets]
        while not self._end.wait(0.1):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = path.read_bytes()
                except OSError:
                    continue
                if any(word in line for word in words):
                    self._seen.setdefault(line.split(b"\0")[0].decode(errors="replace"), line)

    def check(self) -> None:
        """Fails when a secret is found; the message does not repeat it."""
        cluster = self._cluster
        found: list[str] = []
        for program, line in self._seen.items():
            shown = self._hidden(line.decode(errors="replace"))
            found.append(f"the command line of {program}: {shown}")
        for what in ("events", "samplesets,samplejobs,paddlejobs", "pods", "pv,pvc,statefulsets",
                     "configmaps"):
            text = cluster.kubectl("get", what, "-A", "-o", "yaml", limit=120)
            found += self._in(f"kubectl get {what}", text)
        for pod in cluster.list("pods", ns=None):
            ns, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            for previous in ("false", "true"):
                _, out, _ = cluster.run("-n", ns, "logs", name, "--all-containers",
                                        f"--previous={previous}")
                found += self._in(f"the log of {ns}/{name}", out)
        for node in juicefs.nodes(cluster):
            found += self._in_files(node)
        expect(not found, "a secret was found in " + "; ".join(found[:5]))

    def _in_files(self, node: str) -> list[str]:
        return [f"{node}:{path}" for path in readable_files(self._cluster, node, self._secrets)]

    def _in(self, where: str, text: str) -> list[str]:
        return [f"{where}: {self._hidden(line.strip())}" for line in text.splitlines()
                if any(secret in line for secret in self._secrets)][:1]

    def _hidden(self, line: str) -> str:
        for secret in self._secrets:
            line = line.replace(secret, "<secret>")
        return line.replace("\0", " ")[:300]


def readable_files(cluster: Cluster, node: str, secrets: list[str]) -> list[str]:
    """Files of a node that have a secret and that a user who owns none of them can read."""
    # Never on a command line: that would be what is looked for.
    look = 'printf "%s\\n" "$S" | grep -lsF -f - "$@"'
    words = _octal("\n".join(secrets))
    script = (f"S=$(printf '{words}'); export S; "
              "setpriv --reuid=65534 --regid=65534 --clear-groups "
              f"find {' '.join(PLACES)} -xdev -type f -perm -o=r -size -1024k "
              f"-exec sh -c '{look}' _ {{}} + 2>/dev/null; true")
    return cluster.on(node, "sh", "-c", script, limit=300).splitlines()


def _octal(text: str) -> str:
    """For printf in a command line, which must not have the secret itself."""
    return "".join(f"\\{byte:03o}" for byte in text.encode())
