# SPDX-License-Identifier: Apache-2.0
"""Stands in for an NFS server: on each node `mount.nfs` shows a directory that all nodes share.

The kernel of a test machine may have no NFS. kubelet does what it does with a real one: it runs
`mount -t nfs SERVER:PATH TARGET` on the node and unmounts the target later.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import Cluster

HELPER = """#!/bin/sh
# mount.nfs SERVER:PATH TARGET -o OPTIONS
echo "$1" >> {directory}/asked
exec mount --bind {directory}/data "$2"
"""


@contextmanager
def shared(cluster: Cluster) -> Iterator[Path]:
    """The directory with `data`, which mounts show, and `asked`, a line for each mount."""
    directory = Path(cluster.kubeconfig).parent / "nfs"
    (directory / "data").mkdir(parents=True)
    (directory / "sbin").mkdir()
    helper = directory / "sbin/mount.nfs"
    helper.write_text(HELPER.format(directory=directory))
    helper.chmod(0o755)
    for node in juicefs.nodes(cluster):
        # Two layers that are only read: the machine's own /usr/sbin stays as it is.
        cluster.on(node, "mount", "-t", "overlay", "-o", f"lowerdir={directory}/sbin:/usr/sbin",
                   "overlay", "/usr/sbin")
    yield directory
    for node in juicefs.nodes(cluster):
        cluster.on(node, "umount", "/usr/sbin")
