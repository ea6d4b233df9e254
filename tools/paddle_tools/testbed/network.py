# SPDX-License-Identifier: Apache-2.0
"""The cluster's links: a pair of ends that leads out, a bridge inside, a pair for each node."""
import json
import subprocess
from pathlib import Path

from paddle_tools.testbed.layout import (
    BRIDGE_MAC,
    HOST,
    HOST_6,
    Failure,
    free_outside,
    node_address,
    node_address_6,
    node_name,
)
from paddle_tools.testbed.process import environment, ip, run

BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


# --- outside --------------------------------------------------------------------------------------

def machine_addresses():
    found = [info["local"] for link in json.loads(ip("-j -4 addr show"))
             for info in link.get("addr_info", [])]
    return found + [route["dst"] for route in json.loads(ip("-j -4 route show table all"))]


def choose():
    return free_outside(machine_addresses())


def lead_in(layout, pid):
    """One end here, the other in the namespace of a process."""
    ip(f"link add {layout.link} type veth peer name out0 netns {pid}")
    ip(f"link set {layout.link} alias {layout.cgroup}")
    ip(f"addr add {layout.machine_address}/30 dev {layout.link}")
    ip(f"link set {layout.link} up")


def cut(link):
    run("ip", "link", "del", link, fine=(0, 1))


def cut_off(layout):
    """Whatever leads into a cluster of that name, and outlived it."""
    for link in json.loads(ip("-j link show")):
        if link.get("ifalias") == layout.cgroup:
            cut(link["ifname"])


def need_bridge_filter():
    """Services need that bridged packets are filtered. Loading the module changes how the machine's
    own bridges work: that is undone here, and done again in each node."""
    if BRIDGE_FILTER.exists():
        return
    subprocess.run(["modprobe", "br_netfilter"], check=False, env=environment(),
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not BRIDGE_FILTER.exists():
        raise Failure("the kernel module br_netfilter is missing: run `modprobe br_netfilter`")
    for path in BRIDGE_FILTER.parent.glob("bridge-nf-call-*"):
        path.write_text("0")


# --- on the cluster's host ------------------------------------------------------------------------

def make_host(layout):
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


def connect_node(layout, number, pid):
    name = node_name(number)
    cut(name)
    ip(f"link add {name} type veth peer name eth0 netns {pid}")
    ip(f"link set {name} master br0")
    ip(f"link set {name} up")
    _route("replace", layout.pod_subnets(number), layout.node_addresses(number))


def disconnect_node(number):
    """The kernel takes the ends away some time after the node; its name must be free before."""
    cut(node_name(number))


def services_via(layout, number):
    """kube-proxy of that node stands in for the host, which has none."""
    _route("replace", layout.services, layout.node_addresses(number))


def set_link(number, state):
    ip(f"link set {node_name(number)} {state}")


# --- on a node ------------------------------------------------------------------------------------

def make_node(layout, number):
    ip("link set lo up")
    ip(f"addr add {node_address(number)}/24 dev eth0")
    if layout.ipv6:
        ip(f"addr add {node_address_6(number)}/64 dev eth0 nodad")
    ip("link set eth0 up")
    # Without a default no service is reached from the node itself.
    _route("add", ["default", "default"], [HOST_6, HOST] if layout.ipv6 else [HOST])
    for other in layout.node_numbers():
        if other != number:
            _route("add", layout.pod_subnets(other), layout.node_addresses(other))
    _forward()
    for path in BRIDGE_FILTER.parent.glob("bridge-nf-call-ip*tables"):
        path.write_text("1")


def _route(verb, networks, gateways):
    for network, gateway in zip(networks, gateways):
        ip(f"-6 route {verb} {network} via {gateway}" if ":" in gateway else
           f"route {verb} {network} via {gateway}")


def _forward():
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    six = Path("/proc/sys/net/ipv6/conf/all/forwarding")
    if six.exists():  # a machine may have it switched off
        six.write_text("1")
    # A connection whose owner was killed holds the namespace, and so its links, until the other end
    # answers or this many tries have failed; the other end may be gone as well.
    Path("/proc/sys/net/ipv4/tcp_orphan_retries").write_text("1")
