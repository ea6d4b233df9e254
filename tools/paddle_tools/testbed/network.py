# SPDX-License-Identifier: Apache-2.0
"""The cluster's network: a link to the machine, a bridge inside, and a link for each node."""
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.testbed.layout import (
    BRIDGE_MAC,
    HOST,
    HOST_6,
    Layout,
    free_subnet,
    node_address,
    node_address_6,
    node_name,
)
from paddle_tools.testbed.process import environment, ip, run

BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


# --- outside --------------------------------------------------------------------------------------

def machine_addresses() -> list[str]:
    found = [info["local"] for link in json.loads(ip("-j -4 addr show"))
             for info in link.get("addr_info", [])]
    return found + [route["dst"] for route in json.loads(ip("-j -4 route show table all"))]


def choose_subnet() -> int:
    return free_subnet(machine_addresses())


def create_link(layout: Layout, pid: int) -> None:
    """A veth pair: one end on the machine, the other in the namespace of a process."""
    ip(f"link add {layout.link} type veth peer name out0 netns {pid}")
    ip(f"link set {layout.link} alias {layout.cgroup}")
    ip(f"addr add {layout.machine_address}/30 dev {layout.link}")
    ip(f"link set {layout.link} up")


def delete_link(link: str) -> None:
    run("ip", "link", "del", link, accepted=(0, 1))


def delete_links(layout: Layout) -> None:
    """Deletes the links of a cluster of that name that outlived it."""
    for link in json.loads(ip("-j link show")):
        if link.get("ifalias") == layout.cgroup:
            delete_link(link["ifname"])


def need_bridge_filter() -> None:
    """Loads br_netfilter, which services need. That changes how the machine's own bridges work, so
    it is switched off here, and on again in each node."""
    if BRIDGE_FILTER.exists():
        return
    subprocess.run(["modprobe", "br_netfilter"], check=False, env=environment(),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not BRIDGE_FILTER.exists():
        raise ToolError("the kernel module br_netfilter is missing: run `modprobe br_netfilter`")
    for path in BRIDGE_FILTER.parent.glob("bridge-nf-call-*"):
        path.write_text("0")


# --- on the cluster's host ------------------------------------------------------------------------

def set_up_host(layout: Layout) -> None:
    ip("link set lo up")
    ip(f"addr add {layout.outside_address}/30 dev out0")
    ip("link set out0 up")
    ip("link add br0 type bridge")
    ip(f"link set br0 address {BRIDGE_MAC}")
    ip(f"addr add {HOST}/24 dev br0")
    if layout.ipv6:
        ip(f"addr add {HOST_6}/64 dev br0 nodad")
    ip("link set br0 up")
    _forward()


def connect_node(layout: Layout, number: int, pid: int) -> None:
    name = node_name(number)
    delete_link(name)
    ip(f"link add {name} type veth peer name eth0 netns {pid}")
    ip(f"link set {name} master br0")
    ip(f"link set {name} up")
    _route("replace", layout.pod_subnets(number), layout.node_addresses(number))


def disconnect_node(number: int) -> None:
    """The kernel removes the link some time after the node; its name must be free before."""
    delete_link(node_name(number))


def route_services_through(layout: Layout, number: int) -> None:
    """The host has no kube-proxy: it uses that of one node."""
    _route("replace", layout.services, layout.node_addresses(number))


def set_link(number: int, state: str) -> None:
    ip(f"link set {node_name(number)} {state}")


# --- on a node ------------------------------------------------------------------------------------

def set_up_node(layout: Layout, number: int) -> None:
    ip("link set lo up")
    ip(f"addr add {node_address(number)}/24 dev eth0")
    if layout.ipv6:
        ip(f"addr add {node_address_6(number)}/64 dev eth0 nodad")
    ip("link set eth0 up")
    # Without a default route the node itself reaches no service.
    _route("add", ["default", "default"], [HOST_6, HOST] if layout.ipv6 else [HOST])
    for other in layout.node_numbers():
        if other != number:
            _route("add", layout.pod_subnets(other), layout.node_addresses(other))
    _forward()
    for path in BRIDGE_FILTER.parent.glob("bridge-nf-call-ip*tables"):
        path.write_text("1")


def _route(verb: str, networks: Sequence[str], gateways: Sequence[str]) -> None:
    for network, gateway in zip(networks, gateways, strict=False):
        ip(f"-6 route {verb} {network} via {gateway}" if ":" in gateway else
           f"route {verb} {network} via {gateway}")


def _forward() -> None:
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    six = Path("/proc/sys/net/ipv6/conf/all/forwarding")
    if six.exists():  # a machine may have IPv6 switched off
        six.write_text("1")
    # A connection whose process was killed keeps the namespace and its links until the peer answers
    # or this many retries have failed; the peer may be gone as well.
    Path("/proc/sys/net/ipv4/tcp_orphan_retries").write_text("1")
