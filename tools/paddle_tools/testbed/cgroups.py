# SPDX-License-Identifier: Apache-2.0
"""The cluster's control groups: /NAME/host for its own programs, /NAME/node<i> for a node's pods,
in every hierarchy of the machine (version 1, version 2, or both). They outlive their processes, so
they are removed at the end, or at the next beginning after a crash."""
import contextlib
import os
import time
from pathlib import Path

from paddle_tools.testbed.layout import Failure, node_name

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")


def hierarchies(root=ROOT):
    """Their mount points."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted({each.resolve() for each in root.iterdir() if (each / "cgroup.procs").exists()})


def make(layout):
    found = hierarchies()
    if not found:
        raise Failure(f"there are no control groups at {ROOT}; kubelet needs them")
    for top in found:
        _delegate(top)
        _make_one(top / layout.cgroup)
        _delegate(top / layout.cgroup)
        for name in ("host", *map(node_name, layout.node_numbers())):
            _make_one(top / layout.cgroup / name)


def _make_one(path):
    path.mkdir(exist_ok=True)
    for name in ("cpuset.cpus", "cpuset.mems"):  # version 1 leaves them empty: nothing may run
        if (path / name).exists() and (path / "cpuset.memory_pressure").exists():
            (path / name).write_text((path.parent / name).read_text())


def _delegate(path):
    """Version 2: children get a controller only if their parent says so."""
    with contextlib.suppress(FileNotFoundError):
        given = (path / "cgroup.subtree_control").read_text().split()
        for name in (path / "cgroup.controllers").read_text().split():
            if name in _CONTROLLERS and name not in given:
                with contextlib.suppress(OSError):
                    (path / "cgroup.subtree_control").write_text(f"+{name}")


def join(layout, pid):
    """A process and all that it will start."""
    for top in hierarchies():
        with contextlib.suppress(OSError):
            (top / layout.cgroup / "host" / "cgroup.procs").write_text(str(pid))


def remove(layout, below="", limit=15):
    """Waits for the last process to be gone."""
    end = time.monotonic() + limit
    for top in hierarchies():
        while not _remove_tree(top / layout.cgroup / below):
            if time.monotonic() > end:
                raise Failure(f"processes of the cluster are still there: see "
                              f"{top / layout.cgroup / below}")
            time.sleep(0.02)


def _remove_tree(top):
    for path, _, _ in os.walk(top, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(path)
    return not top.exists()
