# SPDX-License-Identifier: Apache-2.0
"""The pinned kube-apiserver with an etcd of its own on loopback, for tests that need no nodes.

Nothing runs pods or collects garbage: objects are stored, validated and shown, no more.
"""
import contextlib
import functools
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS

TOKEN = "bare"
START_LIMIT = 120.0  # seconds


@functools.cache
def component(name: str) -> str:
    """The path of an installed component."""
    done = subprocess.run([TOOLS / "components", "path", name], check=False, text=True,
                          capture_output=True)
    if done.returncode != 0:
        raise ToolError(done.stderr.strip())
    return done.stdout.strip()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class BareApiServer:
    """A server that is up. `kubeconfig` is a file with the rights of an administrator."""

    def __init__(self, scratch: Path, port: int) -> None:
        self.kubeconfig = scratch / "kubeconfig"
        self._scratch = scratch
        self._url = f"https://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        """What the server answers at a path, from JSON."""
        request = urllib.request.Request(self._url + path,
                                         headers={"Authorization": f"Bearer {TOKEN}"})
        context = ssl.create_default_context(cafile=str(self._scratch / "certs/apiserver.crt"))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=context))
        with opener.open(request, timeout=30) as answer:
            return json.loads(answer.read())

    def write_kubeconfig(self) -> None:
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "bare",
            "contexts": [{"name": "bare", "context": {"cluster": "bare", "user": "bare"}}],
            "users": [{"name": "bare", "user": {"token": TOKEN}}],
            "clusters": [{"name": "bare", "cluster": {
                "server": self._url,
                "certificate-authority": str(self._scratch / "certs/apiserver.crt")}}]}))


@contextlib.contextmanager
def bare_api_server(scratch: Path) -> Iterator[BareApiServer]:
    """Starts etcd and the API server in an empty directory, and ends both."""
    client, peer, port = free_port(), free_port(), free_port()
    subprocess.run(["openssl", "genrsa", "-out", scratch / "key.pem", "2048"], check=True,
                   capture_output=True)
    (scratch / "tokens.csv").write_text(f'{TOKEN},admin,admin,"system:masters"\n')
    etcd = [component("etcd"), f"--data-dir={scratch}/etcd",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster=default=http://127.0.0.1:{peer}"]
    server = [component("kube-apiserver"), f"--etcd-servers=http://127.0.0.1:{client}",
              "--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={scratch}/certs",
              f"--token-auth-file={scratch}/tokens.csv", "--authorization-mode=RBAC",
              f"--service-account-key-file={scratch}/key.pem",
              f"--service-account-signing-key-file={scratch}/key.pem",
              "--service-account-issuer=https://bare", "--service-cluster-ip-range=10.0.0.0/24",
              "--disable-admission-plugins=ServiceAccount", "--allow-privileged"]
    made = BareApiServer(scratch, port)
    with _running(etcd, scratch / "etcd.log"), _running(server, scratch / "apiserver.log") as child:
        _wait_ready(made, child, scratch / "apiserver.log")
        made.write_kubeconfig()
        yield made


@contextlib.contextmanager
def _running(argv: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with open(log, "wb") as out, subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *argv], stdout=out, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]}) as child:
        try:
            yield child
        finally:
            child.kill()


def _wait_ready(server: BareApiServer, child: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end and child.poll() is None:
        # The namespace `default` is made a moment after the server is ready.
        with contextlib.suppress(OSError, urllib.error.URLError, ValueError, ssl.SSLError):
            server.get("/api/v1/namespaces/default")
            return
        time.sleep(0.2)
    raise ToolError("the API server does not answer:\n" + log.read_text()[-2000:])
