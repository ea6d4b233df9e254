# SPDX-License-Identifier: Apache-2.0
"""System calls that Python's library lacks: namespaces, mounts, dying with the parent."""
import ctypes
import os
import platform
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWPID, NEWNET = 0x20000000, 0x40000000
ALL = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 2, 4, 8, 4096
MS_REC, MS_PRIVATE, MS_SHARED = 16384, 1 << 18, 1 << 20
_MNT_DETACH = 2
_PR_SET_PDEATHSIG = 1
_CLONE = {"x86_64": 56, "aarch64": 220}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def mount(source: str | Path | None, target: str | Path, kind: str | None = None, flags: int = 0,
          data: str | None = None) -> None:
    first, second, third, last = (None if each is None else os.fsencode(each)
                                  for each in (source, target, kind, data))
    _checked(_libc.mount(first, second, third, ctypes.c_ulong(flags), last), f"mount {target}")


def detach(target: str | Path) -> None:
    """Unmounts even what is in use."""
    _checked(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def enter(pidfd: int) -> None:
    """Enters all namespaces of a process; its pid namespace counts for children only."""
    _checked(_libc.setns(pidfd, ALL), "enter namespaces")


def die_with_parent() -> None:
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")


def spawn(argv: Sequence[object], env: dict[str, str], keep: Sequence[int] = (),
          before: Callable[[int], object] = lambda pid: None, output: int | None = None) -> int:
    """Starts a program as pid 1 of namespaces of its own; returns its pid. It is killed when this
    process dies. `before` is called with its pid while it waits to begin. It inherits the
    descriptors in `keep`. The caller has only one thread: between clone and exec the child must not
    wait for another thread's lock."""
    hold, release = os.pipe()
    flags = ALL | signal.SIGCHLD
    pid = _checked(_libc.syscall(_CLONE[platform.machine()], flags, 0, 0, 0, 0), "clone")
    if pid == 0:
        try:
            die_with_parent()
            os.close(release)
            if os.read(hold, 1) == b"x":  # else the parent died before prctl
                if output is not None:
                    os.dup2(output, 1)
                    os.dup2(output, 2)
                for each in keep:
                    os.set_inheritable(each, True)
                words = [str(each) for each in argv]
                os.execve(words[0], words, env)
        finally:
            os._exit(127)
    os.close(hold)
    try:
        before(pid)
        os.write(release, b"x")
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    finally:
        os.close(release)
    return pid
