# SPDX-License-Identifier: Apache-2.0
"""Where a script runs what it starts: process, mount and network namespaces of its own.

enter() starts a program inside. Whatever happens to it or to us, the kernel then ends every process
and takes every mount and network away with the namespaces; the scratch directory is removed by us,
or by the next run if we were killed. Inside, the scratch directory is INSIDE (short, so that sockets
fit), with a TMPDIR in it.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path


def _inside():
    """A directory that every system has, and that hides nothing of ours when it is covered."""
    if "PLACE_INSIDE" in os.environ:  # we are there
        return Path(os.environ["PLACE_INSIDE"])
    needed = (Path(__file__).resolve(), Path.home(), Path(os.environ.get("PADDLE_OPERATOR_CACHE", "/")),
              Path(os.environ.get("XDG_CACHE_HOME", "/")))
    for path in map(Path, ("/mnt", "/media", "/srv")):
        if path.is_dir() and not any(path in each.parents or path == each for each in needed):
            return path
    return Path("/mnt")


INSIDE = _inside()


class Failure(Exception):
    """A sentence for the user."""


def why_not_fuse():
    """Why nothing can be mounted here, or nothing."""
    with contextlib.suppress(OSError):
        if os.stat("/dev/fuse").st_rdev == os.makedev(10, 229):
            return None
    return "there is no /dev/fuse, so nothing can be mounted: load the kernel module (modprobe fuse), "\
           "or give this container the device"


def why_not():
    """What forbids it here, or nothing."""
    if os.geteuid() != 0:
        return "mounting needs root: run it with sudo"
    if reason := why_not_fuse():
        return reason
    if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False,
                      capture_output=True).returncode != 0:
        return "this machine does not let root make namespaces (is it a container?)"
    return None


@contextlib.contextmanager
def scratch(path):
    """An empty directory, for one run at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another run uses {path}; wait for its end") from None
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def end_in_order():
    """Ctrl-C, a polite kill and a closed terminal all end us through `finally`."""
    def give_up(*_):
        raise KeyboardInterrupt
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, give_up)


def enter(directory, argv):
    """Runs `argv` inside; the exit code."""
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--propagation", "private", "--net",
         "--pid", "--fork", "--kill-child=KILL", "--mount-proc", *map(str, argv)],
        env={**environment(), "PLACE_SCRATCH": str(directory), "PLACE_INSIDE": str(INSIDE)}, stdin=subprocess.DEVNULL,
        start_new_session=True)
    try:
        return child.wait()
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def arrive():
    """First thing inside."""
    run(["mount", "--bind", os.environ["PLACE_SCRATCH"], INSIDE])
    (INSIDE / "tmp").mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(INSIDE / "tmp")
    run(["ip", "link", "set", "lo", "up"])
    os.chdir(INSIDE)


def environment():
    """Nothing of the user's cloud, proxies or shell reaches what we start."""
    return {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "HOME": str(INSIDE),
            "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(INSIDE / "tmp")}


def run(argv, **more):
    """Runs to its end; its output, or a Failure that shows it."""
    done = subprocess.run([str(each) for each in argv], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        shown = "\n".join(done.stdout.splitlines()[-20:])
        raise Failure(f"'{Path(argv[0]).name} {argv[1]}' failed:\n{shown}")
    return done.stdout


class Daemon:
    """A program that serves until it is told to end; its output is in a file."""

    def __init__(self, name, argv, **more):
        self.log = INSIDE / "logs" / f"{name}.log"
        self.log.parent.mkdir(exist_ok=True)
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen([str(each) for each in argv], stdout=out, stderr=out,
                                            **more)
        self.name = name

    def wait_until(self, ready, limit=30):
        """`ready()` may raise OSError for not yet."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                if ready():
                    return self
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended at its start:\n{self.tail()}")
            time.sleep(0.02)
        raise Failure(f"{self.name} was not ready within {limit} s:\n{self.tail()}")

    def wait_for_line(self, line):
        return self.wait_until(lambda: line in self.log.read_text(errors="replace").splitlines())

    def stop(self, limit=20):
        if self.process.stdin:
            self.process.stdin.close()
        else:
            self.process.terminate()
        self.wait_end(limit)

    def wait_end(self, limit=20):
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def tail(self, lines=20):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def cpu_seconds(self):
        """Of the process and those it started."""
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
