# SPDX-License-Identifier: Apache-2.0
"""System calls that Python's library lacks: namespaces, mounts, a child that dies with us."""
import ctypes
import os
import platform
import signal

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWPID, NEWNET = 0x20000000, 0x40000000
ALL = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND = 2, 4, 8, 4096
MS_REC, MS_PRIVATE, MS_SHARED = 16384, 1 << 18, 1 << 20
_MNT_DETACH = 2
_PR_SET_PDEATHSIG = 1
_CLONE = {"x86_64": 56, "aarch64": 220}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def mount(source, target, kind=None, flags=0, data=None):
    encoded = [None if each is None else os.fsencode(each) for each in (source, target, kind, data)]
    source, target, kind, data = encoded
    _checked(_libc.mount(source, target, kind, ctypes.c_ulong(flags), data),
             f"mount {os.fsdecode(target)}")


def detach(target):
    """Unmounts even what is in use."""
    _checked(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def enter(pidfd):
    """All namespaces of that process; the pid namespace is for children only."""
    _checked(_libc.setns(pidfd, ALL), "enter namespaces")


def die_with_parent():
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")


def spawn(argv, env, keep=(), before=lambda pid: None, output=None):
    """Starts a program as pid 1 of namespaces of its own; it is killed when we die. `before` acts
    on it from here, while it waits to begin. `keep` are descriptors that it shall have. The caller
    has one thread only: between clone and exec the child must not wait for another one's lock."""
    hold, release = os.pipe()
    flags = ALL | signal.SIGCHLD
    pid = _checked(_libc.syscall(_CLONE[platform.machine()], flags, 0, 0, 0, 0), "clone")
    if pid == 0:
        try:
            die_with_parent()
            os.close(release)
            if os.read(hold, 1) == b"x":  # else our parent died before it could be noticed
                if output is not None:
                    os.dup2(output, 1)
                    os.dup2(output, 2)
                for each in keep:
                    os.set_inheritable(each, True)
                os.execve(argv[0], [str(each) for each in argv], env)
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
