# SPDX-License-Identifier: Apache-2.0
"""A certificate authority of a scenario's own, and a server's certificate, with openssl."""
import subprocess
from pathlib import Path

from paddle_tools.e2e.cluster import ScenarioFailed

_NEW = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "30")


def make(directory: Path, *names: str) -> None:
    """Writes ca.crt, server.crt and server.key; `names` as in DNS:localhost or IP:127.0.0.1."""
    _openssl("-subj", "/CN=e2e", "-keyout", directory / "ca.key", "-out", directory / "ca.crt")
    _openssl("-CA", directory / "ca.crt", "-CAkey", directory / "ca.key", "-subj", "/CN=server",
             "-addext", f"subjectAltName={','.join(names)}",
             "-addext", "basicConstraints=critical,CA:FALSE",
             "-keyout", directory / "server.key", "-out", directory / "server.crt")


def _openssl(*more: object) -> None:
    done = subprocess.run(["openssl", *_NEW, *map(str, more)], check=False, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ScenarioFailed(f"openssl failed: {done.stderr.strip()[-500:]}")
