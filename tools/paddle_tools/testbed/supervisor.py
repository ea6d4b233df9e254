# SPDX-License-Identifier: Apache-2.0
"""The one process of a cluster that is outside: it holds the cluster's lock, makes the namespaces
and the link that leads in, waits, and sweeps up. If it is killed, the kernel kills the cluster;
what then is left (empty control groups, files) is swept up by the next `up` or `down`."""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import stat
import sys
import time
from dataclasses import replace

from paddle_tools.paths import TOOLS
from paddle_tools.testbed import cgroups, network
from paddle_tools.testbed import syscalls as kernel
from paddle_tools.testbed.layout import BASE, Failure, Layout
from paddle_tools.testbed.process import environment


def prepare_base():
    """A directory that is ours, whoever may write to its parent."""
    with contextlib.suppress(FileExistsError):
        BASE.mkdir(mode=0o755)
    seen = os.lstat(BASE)
    if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o022:
        raise Failure(f"{BASE} is not ours: remove it")


def lock(name):
    """The cluster's lock, or nothing when somebody has it: then the cluster is there."""
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
        os.close(descriptor)  # whoever had it removed the file: a lock on nothing


def keeper_of(name):
    """The keeper's pid. Only true while the lock is held."""
    with contextlib.suppress(OSError, ValueError):
        return int((BASE / f"{name}.lock").read_text())
    return None


def sweep(layout, keep_state=False):
    """What outlives the processes. Waits until there are none."""
    network.cut_off(layout)
    cgroups.remove(layout)
    if not keep_state:
        shutil.rmtree(layout.state, ignore_errors=True)
        if layout.state.exists():
            raise Failure(f"{layout.state} could not be removed")


def forget(name):
    """The last thing that whoever has the lock does."""
    for path in (BASE / f"{name}.keeper.log", BASE / f"{name}.lock"):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there are other clusters
        BASE.rmdir()


class Told(Exception):
    """To end."""


def end_when_told():
    def give_up(*_):
        raise Told
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, give_up)


def keep(descriptor, layout, progress, begun=lambda: None):
    """Runs the cluster, from a swept state to a swept state; whoever calls has the lock. True when
    it was told to end."""
    pid, told = None, False
    try:
        end_when_told()
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        layout.state.mkdir(mode=0o700)
        layout.logs.mkdir()
        cgroups.make(layout)
        pid, layout = begin(layout, progress)
        os.close(progress)
        begun()
        os.waitpid(pid, 0)
    except Told:
        told = True
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if pid:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        sweep(layout, keep_state=not told)  # after a failure the logs are worth reading
    if told:
        forget(layout.name)
    return told


def begin(layout, progress):
    """Everybody chooses an address outside in turn."""
    argv = [sys.executable, "-B", "-m", "paddle_tools.testbed.host", layout.state, progress]
    env = environment(PYTHONPATH=str(TOOLS))
    turn = os.open(BASE, os.O_RDONLY | os.O_CLOEXEC)
    with open(layout.logs / "host.log", "ab") as log, contextlib.ExitStack() as after:
        after.callback(os.close, turn)
        fcntl.flock(turn, fcntl.LOCK_EX)
        layout = replace(layout, outside=network.choose())
        layout.save()

        def before(child):
            cgroups.join(layout, child)
            network.lead_in(layout, child)
        return kernel.spawn(argv, env, keep=[progress], before=before, output=log.fileno()), layout


def start_apart(descriptor, layout, progress):
    """keep() in a process that outlives us and our terminal; its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setsid()
        with open("/dev/null", "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        log = os.open(BASE / f"{layout.name}.keeper.log",
                      os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        close_all_but({0, 1, 2, descriptor, progress})
        keep(descriptor, layout, progress)
        code = 0
    except (Failure, OSError) as error:
        with contextlib.suppress(OSError):  # nobody reads any more, or the host had it
            os.write(progress, json.dumps({"failure": str(error)}).encode() + b"\n")
        print(error, file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def close_all_but(wanted):
    for each in map(int, os.listdir("/proc/self/fd")):
        if each not in wanted:
            with contextlib.suppress(OSError):
                os.close(each)


def end(name, limit=240):
    """Ends a cluster, or sweeps up after one that was killed. True when there was something."""
    there = Layout(name).state.exists()
    deadline = time.monotonic() + limit
    told = False
    while (descriptor := lock(name)) is None:
        if not told and (pid := keeper_of(name)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            there = told = True
        if time.monotonic() > deadline:
            raise Failure(f"cluster '{name}' did not end within {limit} s; its log is "
                          f"{BASE / name}.keeper.log")
        time.sleep(0.02)
    try:
        sweep(Layout(name))
        forget(name)
    finally:
        os.close(descriptor)
    return there
