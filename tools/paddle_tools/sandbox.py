# SPDX-License-Identifier: Apache-2.0
"""Process, mount and network namespaces in which a script runs what it starts.

run_inside() starts a program in them. When it ends, or this process is killed, the kernel ends
every process in there and removes every mount and network with the namespaces. The scratch
directory is removed by this process, or by the next run if this one was killed. Inside, it is
mounted at SANDBOX (a short path, so that paths of sockets fit), with a TMPDIR in it.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from paddle_tools.errors import ToolError

Argv = Sequence[str | Path]


def _sandbox_directory() -> Path:
    """A directory that every system has, and whose covering hides no file that is needed."""
    if "SANDBOX_DIRECTORY" in os.environ:  # this process is inside
        return Path(os.environ["SANDBOX_DIRECTORY"])
    needed = (Path(__file__).resolve(), Path.home(),
              Path(os.environ.get("PADDLE_OPERATOR_CACHE", "/")),
              Path(os.environ.get("XDG_CACHE_HOME", "/")))
    for path in map(Path, ("/mnt", "/media", "/srv")):
        if path.is_dir() and not any(path in each.parents or path == each for each in needed):
            return path
    return Path("/mnt")


SANDBOX = _sandbox_directory()


def fuse_problem() -> str | None:
    """Why FUSE cannot be used here; None when it can."""
    with contextlib.suppress(OSError):
        if os.stat("/dev/fuse").st_rdev == os.makedev(10, 229):
            return None
    return ("there is no /dev/fuse, so nothing can be mounted: load the kernel module "
            "(modprobe fuse), or give this container the device")


def unsupported_reason() -> str | None:
    """Why a sandbox cannot be made here; None when it can."""
    if os.geteuid() != 0:
        return "mounting needs root: run it with sudo"
    if reason := fuse_problem():
        return reason
    if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False,
                      capture_output=True).returncode != 0:
        return "this machine does not let root make namespaces (is it a container?)"
    return None


@contextlib.contextmanager
def scratch_directory(path: Path) -> Iterator[Path]:
    """An empty directory, for one run at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ToolError(f"another run uses {path}; wait for its end") from None
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def interrupt_on_signals() -> None:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, so that `finally` blocks run."""
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def run_inside(directory: Path, argv: Argv) -> int:
    """Runs a program in new namespaces with `directory` as its scratch; returns its exit code."""
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private",
         "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", *map(str, argv)],
        env={**environment(), "SANDBOX_SCRATCH": str(directory), "SANDBOX_DIRECTORY": str(SANDBOX)},
        stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def set_up_inside() -> None:
    """The first call of a program that run_inside() started."""
    run(["mount", "--bind", os.environ["SANDBOX_SCRATCH"], SANDBOX])
    (SANDBOX / "tmp").mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(SANDBOX / "tmp")
    run(["ip", "link", "set", "lo", "up"])
    os.chdir(SANDBOX)


def environment() -> dict[str, str]:
    """For programs in the sandbox: nothing of the user's cloud, proxies or shell."""
    return {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "HOME": str(SANDBOX),
            "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(SANDBOX / "tmp")}


def run(argv: Argv, **more: Any) -> str:
    """Runs a program to its end; returns its output, or raises a ToolError that shows it."""
    done = subprocess.run([str(each) for each in argv], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        shown = "\n".join(done.stdout.splitlines()[-20:])
        raise ToolError(f"'{Path(argv[0]).name} {argv[1]}' failed:\n{shown}")
    return str(done.stdout)


class Daemon:
    """A program that serves until it is stopped; its output is in a file."""

    def __init__(self, name: str, argv: Argv, **more: Any) -> None:
        self.name = name
        self.log = SANDBOX / "logs" / f"{name}.log"
        self.log.parent.mkdir(exist_ok=True)
        with open(self.log, "ab") as out:
            self.process: subprocess.Popen[Any] = subprocess.Popen(
                [str(each) for each in argv], stdout=out, stderr=out, **more)

    def wait_until(self, ready: Callable[[], object], limit: float = 30) -> Self:
        """Waits until `ready()` is true; OSError counts as false."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if ready():
                    return self
            if self.process.poll() is not None:
                raise ToolError(f"{self.name} ended at its start:\n{self.tail()}")
            time.sleep(0.02)
        raise ToolError(f"{self.name} was not ready within {limit} s:\n{self.tail()}")

    def wait_for_line(self, line: str) -> Self:
        return self.wait_until(lambda: line in self.log.read_text(errors="replace").splitlines())

    def stop(self, limit: float = 20) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        else:
            self.process.terminate()
        self.wait_end(limit)

    def wait_end(self, limit: float = 20) -> None:
        """Waits for its end; kills it after the limit."""
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def cpu_seconds(self) -> float:
        """Processor time of the process and those that it started."""
        parents, used = {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    parents[int(entry.name)] = int(fields[1])
                    used[int(entry.name)] = int(fields[11]) + int(fields[12])
        family = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        return sum(used.get(pid, 0) for pid in family) / os.sysconf("SC_CLK_TCK")
