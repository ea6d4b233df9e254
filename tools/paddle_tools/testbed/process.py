# SPDX-License-Identifier: Apache-2.0
"""Runs programs: to their end, or as part of the cluster with a log of their own."""
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from paddle_tools.errors import ToolError

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(programs: dict[str, str] | None = None, **more: str) -> dict[str, str]:
    """Nothing of the user's cloud, proxies or shell; PATH has the directories of `programs`."""
    homes = sorted({str(Path(each).parent) for each in (programs or {}).values()})
    return {"PATH": ":".join([*homes, SYSTEM_PATH]), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
            "KUBECACHEDIR": "/dev/null", **more}  # else kubectl makes HOME


def run(*argv: object, stdin: str | None = None, env: dict[str, str] | None = None,
        accepted: Sequence[int] = (0,)) -> str:
    """Runs a program to its end; returns its output, or raises a ToolError that shows it."""
    done = subprocess.run([str(each) for each in argv], text=True, check=False, input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env or environment())
    if done.returncode not in accepted:
        shown = "\n".join(done.stdout.splitlines()[-20:])
        command = f"{Path(str(argv[0])).name} {' '.join(map(str, argv[1:6]))}"
        raise ToolError(f"'{command}' failed:\n{shown}")
    return done.stdout


def ip(words: str) -> str:
    return run("ip", *words.split())


def write(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes a file that has its mode from the beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode)
    with open(descriptor, "w", encoding="utf-8") as out:
        out.write(text)


def accepts_connections(address: str, port: int) -> bool:
    """True when a server accepts connections, else OSError."""
    socket.create_connection((address, port), 1).close()
    return True


def tail(path: str | Path, lines: int = 25) -> str:
    try:
        return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def describe_exit(code: int) -> str:
    return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class ManagedProcess:
    """A program that runs as long as the cluster, with its output in a log."""

    def __init__(self, name: str, argv: Sequence[str | Path | int], logs: Path,
                 env: dict[str, str] | None = None) -> None:
        self.name, self.argv, self.env = name, [str(each) for each in argv], env or environment()
        self.log = Path(logs) / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, env=self.env, cwd="/")
        return self

    @property
    def exit_reason(self) -> str | None:
        """How it ended; None while it runs."""
        code = self.process.poll() if self.process else None
        return None if code is None else describe_exit(code)
