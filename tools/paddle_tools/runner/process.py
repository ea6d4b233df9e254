# SPDX-License-Identifier: Apache-2.0
"""Runs programs for the test runner: with a clean environment, a time limit, and no survivors."""
import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

# What a test sees of the caller's environment. Certificate overrides, proxies, KUBECONFIG and the
# like are left out: they would change what a test starts.
PASSED_VARIABLES = ("PATH", "HOME", "USER", "TMPDIR", "XDG_CACHE_HOME", "CI")

Argv = Sequence[str | Path]


def test_environment(**more: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items()
           if name in PASSED_VARIABLES or name.startswith("PADDLE_")}
    env.update(LC_ALL="C.UTF-8", **more)
    return env


_running: set[subprocess.Popen[bytes]] = set()  # processes of run(), in any thread
_starting = threading.RLock()  # held while one starts; signal handlers may call kill_all()


def kill_all() -> None:
    """Kills every process of run() and what it started. For a runner that ends at once."""
    with _starting:
        for child in list(_running):
            _kill_group(child)


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def run(argv: Argv, log: Path, limit: float, env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None) -> tuple[int | None, float]:
    """Runs a program in a session of its own, its output in the file `log`. Returns (exit code,
    seconds). The code is negative for a signal, and None when the limit passed and the process
    group was killed."""
    start = time.monotonic()
    code: int | None
    with open(log, "wb") as out:
        # If the runner itself is killed, the kernel kills the program.
        with _starting:
            child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, argv)], env=env,
                                     cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            _running.add(child)
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill_group(child)
            child.wait()
            _running.discard(child)
    return code, time.monotonic() - start


def run_build(argv: Sequence[str], log: Path, env: Mapping[str, str], cwd: str | Path) -> int:
    """Runs a build; returns its exit code. If the runner ends, the build gets SIGTERM: ninja then
    stops its compilers, which are in process groups of their own."""
    with open(log, "wb") as out:
        child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *argv], env=env, cwd=cwd,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            return child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()


def describe_exit(code: int | None, limit: float) -> str:
    """`code` as run() returns it."""
    if code is None:
        return f"killed after {limit} s"
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"exit code {code}"


def tail(path: str | Path, lines: int = 40) -> str:
    """The last lines of a file; empty when there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-lines:])
    except OSError:
        return ""


def command_line(argv: Argv, env: Mapping[str, str] | None = None) -> str:
    """A command as a user types it in a shell."""
    settings = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    return " ".join(settings + [shlex.quote(str(each)) for each in argv])
