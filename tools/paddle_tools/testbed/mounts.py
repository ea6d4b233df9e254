# SPDX-License-Identifier: Apache-2.0
"""The mounts of a cluster: what it has of the machine's file systems."""
import contextlib
from collections.abc import Sequence
from pathlib import Path

from paddle_tools.testbed import syscalls

# Mounts there are temporary: a copy of ours would keep one alive after its owner unmounted it.
_TEMPORARY = ("/tmp/", "/run/", "/mnt/", "/media/", "/var/")


def unescape(text: str) -> str:
    """A path of mountinfo, which has blanks and the like as octal numbers."""
    return text.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def mounts_to_drop(mountinfo: str, needed: Sequence[Path]) -> list[str]:
    """Mount points to drop from the copy of the machine's mount table, last mounted first: FUSE of
    other programs, and temporary ones; never one that contains something needed. Pure."""
    found = []
    for line in mountinfo.splitlines():
        fields = line.split()
        point, kind = unescape(fields[4]), fields[fields.index("-") + 1]
        temporary = (point.startswith(_TEMPORARY) or kind in ("nsfs", "fuse")
                     or kind.startswith("fuse."))
        contains = any(Path(point) == each or Path(point) in each.parents for each in needed)
        if temporary and not contains:
            found.append(point)
    return found[::-1]


def make_private(needed: Sequence[Path]) -> None:
    """The first call in a new mount namespace: mounts made in it are not seen outside."""
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    mount_proc()
    for point in mounts_to_drop(Path("/proc/self/mountinfo").read_text(), needed):
        with contextlib.suppress(OSError):  # it was beneath one that is gone now
            syscalls.detach(point)


def mount_proc() -> None:
    syscalls.mount("proc", "/proc", "proc",
                   syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC)


def mount_tmpfs(target: str | Path, options: str = "mode=755") -> None:
    syscalls.mount("tmpfs", target, "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, options)


def file_system_type(path: Path) -> str:
    """The type of the file system that contains a path."""
    best, kind = "", ""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        point = unescape(fields[4])
        contains = point == "/" or str(path) == point or str(path).startswith(point + "/")
        if contains and len(point) >= len(best):
            best, kind = point, fields[fields.index("-") + 1]
    return kind


def snapshotter(state: Path) -> str:
    """containerd's snapshotter: an overlay cannot lie on an overlay."""
    return "native" if file_system_type(state) == "overlay" else "overlayfs"
