# SPDX-License-Identifier: Apache-2.0
"""Who reaches whom: connections made from within a pod's network, whatever its image contains.

The network namespaces of pods are files on their node; the one that has the pod's address is
entered there by a program of the machine.
"""
import json

from paddle_tools.e2e.cluster import Failed

OPEN, CLOSED = "open", "closed"

_CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3])).close()
    print("open")
except (TimeoutError, ConnectionRefusedError):  # a firewall drops or rejects, as it likes
    print("closed")
"""

_ENTER = """
import json, pathlib, subprocess, sys
own, *rest = sys.argv[1:]
for space in pathlib.Path("/run/netns").iterdir():
    said = subprocess.run(["nsenter", f"--net={space}", "ip", "-j", "addr"], check=True,
                          capture_output=True, text=True).stdout
    if own in [info["local"] for link in json.loads(said) for info in link.get("addr_info", [])]:
        sys.exit(subprocess.run(["nsenter", f"--net={space}", "python3", "-c", *rest]).returncode)
sys.exit(f"no pod of this node has the address {own}")
"""


def from_pod(cluster, source, address, port, limit=3):
    """OPEN or CLOSED. `source` is a pod's object."""
    return _said(cluster.on(source["spec"]["nodeName"], "python3", "-c", _ENTER,
                            source["status"]["podIP"], _CONNECT, address, port, limit))


def from_place(cluster, place, address, port, limit=3):
    """The same from a node, or from the cluster's host, which is outside of all nodes."""
    return _said(cluster.on(place, "python3", "-c", _CONNECT, address, port, limit))


def _said(text):
    if text.strip() not in (OPEN, CLOSED):
        raise Failed(f"nobody can say whether there was a connection: {json.dumps(text)}")
    return text.strip()
