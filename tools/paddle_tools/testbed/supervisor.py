# SPDX-License-Identifier: Apache-2.0
"""The process of a cluster that runs on the machine itself: it has the cluster's lock, makes the
namespaces and the link into them, waits for the end, and cleans up. If it is killed, the kernel
kills the cluster; the next `up` or `down` removes what is left (empty control groups, files)."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable
from dataclasses import replace

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS
from paddle_tools.testbed import cgroups, network, syscalls
from paddle_tools.testbed.layout import BASE, Layout
from paddle_tools.testbed.process import environment


def prepare_base() -> None:
    """Makes the directory of all clusters; refuses one that another user could have made."""
    with contextlib.suppress(FileExistsError):
        BASE.mkdir(mode=0o755)
    found = os.lstat(BASE)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise ToolError(f"{BASE} is not ours: remove it")


def lock(name: str) -> int | None:
    """Takes the cluster's lock; returns its descriptor, or None when another process has it, which
    means that the cluster is up."""
    path = BASE / f"{name}.lock"
    while True:
        try:
            prepare_base()
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # another cluster's end removed the directory
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(path), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)  # the file was removed: a lock on it excludes no other process


def supervisor_pid(name: str) -> int | None:
    """The supervisor's pid. Valid only while the lock is held."""
    with contextlib.suppress(OSError, ValueError):
        return int((BASE / f"{name}.lock").read_text())
    return None


def remove_leftovers(layout: Layout, keep_state: bool = False) -> None:
    """Removes what outlives the processes. Waits until there are none."""
    network.delete_links(layout)
    cgroups.remove(layout)
    if not keep_state:
        shutil.rmtree(layout.state, ignore_errors=True)
        if layout.state.exists():
            raise ToolError(f"{layout.state} could not be removed")


def remove_lock(name: str) -> None:
    """The last call of the process that has the lock."""
    for path in (BASE / f"{name}.supervisor.log", BASE / f"{name}.lock"):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there are other clusters
        BASE.rmdir()


class StopRequested(Exception):
    """SIGINT, SIGTERM or SIGHUP."""


def raise_on_signals() -> None:
    def stop(*_: object) -> None:
        raise StopRequested
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def run_cluster(descriptor: int, layout: Layout, progress: int,
                started: Callable[[], object] = lambda: None) -> bool:
    """Runs the cluster until its end, and cleans up. The caller has the lock. Returns True when a
    signal ended it, False when it ended by itself."""
    pid: int | None = None
    stopped = False
    try:
        raise_on_signals()
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        layout.state.mkdir(mode=0o700)
        layout.logs.mkdir()
        cgroups.make(layout)
        pid, layout = start_host(layout, progress)
        os.close(progress)
        started()
        os.waitpid(pid, 0)
    except StopRequested:
        stopped = True
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if pid:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        remove_leftovers(layout, keep_state=not stopped)  # a failure leaves its logs
    if stopped:
        remove_lock(layout.name)
    return stopped


def start_host(layout: Layout, progress: int) -> tuple[int, Layout]:
    """Starts the cluster's host. A lock on BASE makes clusters choose their networks one by one."""
    argv = [sys.executable, "-B", "-m", "paddle_tools.testbed.host", layout.state, progress]
    env = environment(PYTHONPATH=str(TOOLS))
    turn = os.open(BASE, os.O_RDONLY | os.O_CLOEXEC)
    with open(layout.logs / "host.log", "ab") as log, contextlib.ExitStack() as after:
        after.callback(os.close, turn)
        fcntl.flock(turn, fcntl.LOCK_EX)
        layout = replace(layout, outside=network.choose_subnet())
        layout.save()

        def before(child: int) -> None:
            cgroups.join(layout, child)
            network.create_link(layout, child)
        pid = syscalls.spawn(argv, env, keep=[progress], before=before, output=log.fileno())
        return pid, layout


def start_in_background(descriptor: int, layout: Layout, progress: int) -> int:
    """run_cluster() in a process that outlives this one and its terminal; returns its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        with open("/dev/null", "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        log = os.open(BASE / f"{layout.name}.supervisor.log",
                      os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        close_other_descriptors({0, 1, 2, descriptor, progress})
        run_cluster(descriptor, layout, progress)
        code = 0
    except (ToolError, OSError) as error:
        with contextlib.suppress(OSError):  # the reader is gone, or the host closed it
            os.write(progress, json.dumps({"failure": str(error)}).encode() + b"\n")
        print(error, file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def close_other_descriptors(wanted: set[int]) -> None:
    for each in map(int, os.listdir("/proc/self/fd")):
        if each not in wanted:
            with contextlib.suppress(OSError):
                os.close(each)


def stop_cluster(name: str, limit: float = 240) -> bool:
    """Ends a cluster, or cleans up after one that was killed. Returns False when there was none."""
    there = Layout(name).state.exists()
    deadline = time.monotonic() + limit
    signalled = False
    while (descriptor := lock(name)) is None:
        if not signalled and (pid := supervisor_pid(name)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            there = signalled = True
        if time.monotonic() > deadline:
            raise ToolError(f"cluster '{name}' did not end within {limit} s; its log is "
                            f"{BASE / name}.supervisor.log")
        time.sleep(0.02)
    try:
        remove_leftovers(Layout(name))
        remove_lock(name)
    finally:
        os.close(descriptor)
    return there
