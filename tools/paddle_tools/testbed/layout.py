# SPDX-License-Identifier: Apache-2.0
"""Where everything of one cluster is: files, addresses, names. Pure.

Inside, all clusters have the same addresses; outside, each has a /30 of its own.
"""
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

BASE = Path("/tmp/paddle-testbed")
HOST = "10.88.0.1"
BRIDGE_MAC = "02:00:0a:58:00:01"  # fixed: else it changes with the ports, and neighbours lose us
SERVICES = "10.97.0.0/16"
PODS = "10.245.0.0/16"
# With the part ipv6 everything has two addresses, and these come first.
HOST_6, FIRST_SERVICE_6 = "fd00:88::1", "fd00:97::1"
SERVICES_6, PODS_6 = "fd00:97::/112", "fd00:245::/32"
API_PORT, DNS_READY_PORT, POLICIES_PORT = 6443, 8181, 20244
DOMAIN = "cluster.local"
PAUSE_IMAGE = "docker.io/library/pause:3.10"
BUSYBOX_IMAGE = "docker.io/library/busybox:1.35"
PARTS = ("redis", "s3", "etcd", "juicefs", "volcano", "kwok", "ipv6", "policies")
KWOK_NODES = 20


class Failure(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Layout:
    """One cluster. `outside` is the X of 10.89.X.0/30; `parts` the optional ones with their
    argument; `programs` where the components are."""
    name: str
    nodes: int = 3
    outside: int = 0
    parts: dict = field(default_factory=dict)
    programs: dict = field(default_factory=dict)

    @property
    def state(self):
        return BASE / self.name

    @property
    def logs(self):
        return self.state / "logs"

    @property
    def pki(self):
        return self.state / "pki"

    @property
    def config(self):
        return self.state / "config"

    @property
    def kubeconfig(self):
        return self.state / "kubeconfig"

    @property
    def control(self):
        return self.state / "control.sock"

    @property
    def cgroup(self):
        return f"paddle-testbed-{self.name}"

    @property
    def link(self):
        """The end outside of the pair that leads in."""
        return f"ptb{self.outside}"

    @property
    def machine_address(self):
        return f"10.89.{self.outside}.1"

    @property
    def outside_address(self):
        return f"10.89.{self.outside}.2"

    @property
    def server(self):
        return f"https://{self.outside_address}:{API_PORT}"

    @property
    def ipv6(self):
        return "ipv6" in self.parts

    @property
    def policies(self):
        return "policies" in self.parts

    @property
    def services(self):
        return [SERVICES_6, SERVICES] if self.ipv6 else [SERVICES]

    @property
    def pods(self):
        return [PODS_6, PODS] if self.ipv6 else [PODS]

    def node_addresses(self, number):
        """The one that counts first."""
        return [*([node_address_6(number)] if self.ipv6 else []), node_address(number)]

    def pod_subnets(self, number):
        return [*([pod_subnet_6(number)] if self.ipv6 else []), pod_subnet(number)]

    def node_numbers(self):
        return range(1, self.nodes + 1)

    def node_state(self, number):
        return self.state / node_name(number)

    def save(self):
        (self.state / "cluster.json").write_text(json.dumps(asdict(self), indent=1))


def load(state):
    return Layout(**json.loads((Path(state) / "cluster.json").read_text()))


def node_name(number):
    return f"node{number}"


def node_address(number):
    return f"10.88.0.{10 + number}"


def pod_subnet(number):
    return f"10.245.{number}.0/24"


def node_address_6(number):
    return f"fd00:88::{10 + number:x}"


def pod_subnet_6(number):
    return f"fd00:245:{number:x}::/64"


def check_name(name):
    if not re.fullmatch(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?", name):
        raise Failure(f"'{name}' can not name a cluster: up to 20 small letters, digits and "
                      "dashes, a letter first")
    return name


def node_number(word, nodes):
    """2 or node2."""
    digits = word.removeprefix("node")
    if not digits.isdigit() or not 1 <= int(digits) <= nodes:
        raise Failure(f"there is no node '{word}': this cluster has node1 to node{nodes}")
    return int(digits)


def wanted_parts(text):
    """'redis,kwok=100' -> {'redis': '', 'kwok': '100'}"""
    found = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in PARTS:
            raise Failure(f"there is no optional part '{name}'; there are: {', '.join(PARTS)}")
        if value and (name != "kwok" or not value.isdigit()):
            raise Failure(f"'{word}': only kwok takes a number, as in kwok=100")
        found[name] = value or (str(KWOK_NODES) if name == "kwok" else "")
    return found


def free_outside(addresses):
    """The first X so that 10.89.X.0/30 meets none of the machine's addresses and routes. A wider
    network may hold it: our prefix is longer."""
    taken = {int(match[1]) for each in addresses
             if (match := re.match(r"10\.89\.(\d+)\.", each))}
    for number in range(256):
        if number not in taken:
            return number
    raise Failure("all of 10.89.0.0/16 is in use: `tools/testbed list` shows the clusters of this "
                  "machine")
