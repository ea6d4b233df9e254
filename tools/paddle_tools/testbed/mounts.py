# SPDX-License-Identifier: Apache-2.0
"""What the cluster sees of the machine's file systems."""
import contextlib
from pathlib import Path

from paddle_tools.testbed import syscalls as kernel

# Whoever owns a mount there takes it away one day: our copy would keep it alive.
_PASSING = ("/tmp/", "/run/", "/mnt/", "/media/", "/var/")


def unescape(text):
    """mountinfo writes blanks and the like as octal."""
    return text.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def foreign(mountinfo, needed):
    """Mount points to drop from the copy of the machine's mount table, last mounted first: other
    programs' FUSE, and what is in passing places; never one that holds something needed. Pure."""
    found = []
    for line in mountinfo.splitlines():
        fields = line.split()
        point, kind = unescape(fields[4]), fields[fields.index("-") + 1]
        passing = point.startswith(_PASSING) or kind in ("nsfs", "fuse") or kind.startswith("fuse.")
        holds = any(Path(point) == each or Path(point) in each.parents for each in needed)
        if passing and not holds:
            found.append(point)
    return found[::-1]


def leave_the_machine(needed):
    """First thing in a new mount namespace: nothing that happens in here is seen outside."""
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    fresh_proc()
    for point in foreign(Path("/proc/self/mountinfo").read_text(), needed):
        with contextlib.suppress(OSError):  # it was below one that is gone now
            kernel.detach(point)


def fresh_proc():
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)


def tmpfs(target, options="mode=755"):
    kernel.mount("tmpfs", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def kind_of(path):
    """The type of the file system that holds a path."""
    best, kind = "", ""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        point = unescape(fields[4])
        holds = point == "/" or str(path) == point or str(path).startswith(point + "/")
        if holds and len(point) >= len(best):
            best, kind = point, fields[fields.index("-") + 1]
    return kind


def snapshotter(state):
    """An overlay can not lie on an overlay."""
    return "native" if kind_of(state) == "overlay" else "overlayfs"
