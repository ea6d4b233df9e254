# SPDX-License-Identifier: Apache-2.0
"""The cluster's control groups: /NAME/host for its own programs, /NAME/node<i> for a node's pods,
in every hierarchy of the machine (version 1, version 2, or both). Control groups outlive their
processes, so they are removed at the end, or at the next start after a crash."""
import contextlib
import os
import time
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.testbed.layout import Layout, node_name

ROOT = Path("/sys/fs/cgroup")
_CONTROLLERS = ("cpuset", "cpu", "io", "memory", "hugetlb", "pids")


def hierarchies(root: Path = ROOT) -> list[Path]:
    """The mount points of the hierarchies."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted({each.resolve() for each in root.iterdir() if (each / "cgroup.procs").exists()})


def make(layout: Layout) -> None:
    found = hierarchies()
    if not found:
        raise ToolError(f"there are no control groups at {ROOT}; kubelet needs them")
    for top in found:
        _delegate(top)
        _make_one(top / layout.cgroup)
        _delegate(top / layout.cgroup)
        for name in ("host", *map(node_name, layout.node_numbers())):
            _make_one(top / layout.cgroup / name)


def _make_one(path: Path) -> None:
    path.mkdir(exist_ok=True)
    for name in ("cpuset.cpus", "cpuset.mems"):  # empty in version 1: nothing could run
        if (path / name).exists() and (path / "cpuset.memory_pressure").exists():
            (path / name).write_text((path.parent / name).read_text())


def _delegate(path: Path) -> None:
    """Version 2: a child gets a controller only if its parent enables it."""
    with contextlib.suppress(FileNotFoundError):
        given = (path / "cgroup.subtree_control").read_text().split()
        for name in (path / "cgroup.controllers").read_text().split():
            if name in _CONTROLLERS and name not in given:
                with contextlib.suppress(OSError):
                    (path / "cgroup.subtree_control").write_text(f"+{name}")


def join(layout: Layout, pid: int) -> None:
    """Moves a process, and with it all that it will start, into the cluster's group."""
    for top in hierarchies():
        with contextlib.suppress(OSError):
            (top / layout.cgroup / "host" / "cgroup.procs").write_text(str(pid))


def remove(layout: Layout, below: str = "", limit: float = 15) -> None:
    """Removes the groups; waits until their last process is gone."""
    end = time.monotonic() + limit
    for top in hierarchies():
        while not _remove_tree(top / layout.cgroup / below):
            if time.monotonic() > end:
                raise ToolError(f"processes of the cluster are still there: see "
                                f"{top / layout.cgroup / below}")
            time.sleep(0.02)


def _remove_tree(top: Path) -> bool:
    for path, _, _ in os.walk(top, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(path)
    return not top.exists()
