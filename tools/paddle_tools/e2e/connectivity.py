# SPDX-License-Identifier: Apache-2.0
"""Tries connections from the network of a pod, independent of the programs in its image.

The network namespaces of pods are files on their node; a program of the machine enters the one that
has the pod's address.
"""
import json

from paddle_tools.e2e.cluster import Cluster, ScenarioFailed
from paddle_tools.json_types import Json

OPEN, CLOSED = "open", "closed"

_CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3])).close()
    print("open")
except (TimeoutError, ConnectionRefusedError):  # a firewall drops or rejects
    print("closed")
"""

_ENTER = """
import json, pathlib, subprocess, sys
own, *rest = sys.argv[1:]
for space in pathlib.Path("/run/netns").iterdir():
    shown = subprocess.run(["nsenter", f"--net={space}", "ip", "-j", "addr"], check=True,
                          capture_output=True, text=True).stdout
    if own in [info["local"] for link in json.loads(shown) for info in link.get("addr_info", [])]:
        sys.exit(subprocess.run(["nsenter", f"--net={space}", "python3", "-c", *rest]).returncode)
sys.exit(f"no pod of this node has the address {own}")
"""


def from_pod(cluster: Cluster, source: Json, address: str, port: int, limit: float = 3) -> str:
    """OPEN or CLOSED, from a pod, given as its object."""
    return _parse(cluster.on(source["spec"]["nodeName"], "python3", "-c", _ENTER,
                             source["status"]["podIP"], _CONNECT, address, port, limit))


def from_place(cluster: Cluster, place: str, address: str, port: int, limit: float = 3) -> str:
    """OPEN or CLOSED, from a node or from the cluster's host, which is no node."""
    return _parse(cluster.on(place, "python3", "-c", _CONNECT, address, port, limit))


def _parse(text: str) -> str:
    if text.strip() not in (OPEN, CLOSED):
        raise ScenarioFailed(f"the attempt to connect gave no result: {json.dumps(text)}")
    return text.strip()
