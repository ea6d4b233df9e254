# SPDX-License-Identifier: Apache-2.0
"""Files, addresses and names of one cluster. Pure.

Inside, all clusters have the same addresses; outside, each has a /30 of its own.
"""
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from paddle_tools.errors import ToolError

BASE = Path("/tmp/paddle-testbed")
HOST = "10.88.0.1"
BRIDGE_MAC = "02:00:0a:58:00:01"  # fixed: else it changes with the ports, and peers lose it
SERVICES = "10.97.0.0/16"
PODS = "10.245.0.0/16"
# With the part ipv6 everything has two addresses; those of IPv6 come first.
HOST_6, FIRST_SERVICE_6 = "fd00:88::1", "fd00:97::1"
SERVICES_6, PODS_6 = "fd00:97::/112", "fd00:245::/32"
API_PORT, DNS_READY_PORT, POLICIES_PORT = 6443, 8181, 20244
DOMAIN = "cluster.local"
EXAMPLE_DOMAINS = ("example", "bcebos.com")  # of addresses in documents and examples
PAUSE_IMAGE = "docker.io/library/pause:3.10"
BUSYBOX_IMAGE = "docker.io/library/busybox:1.35"
PARTS = ("redis", "s3", "etcd", "juicefs", "volcano", "kwok", "ipv6", "policies")
KWOK_NODES = 20
KUBELET = "/var/lib/kubelet"


@dataclass(frozen=True)
class Layout:
    """One cluster. `outside` is the X of its network 10.89.X.0/30, `parts` are its optional parts
    with their arguments, `programs` the paths of components, `kubelet` the root directory of all
    kubelets."""
    name: str
    nodes: int = 3
    outside: int = 0
    parts: dict[str, str] = field(default_factory=dict)
    programs: dict[str, str] = field(default_factory=dict)
    kubelet: str = KUBELET

    @property
    def state(self) -> Path:
        return BASE / self.name

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def pki(self) -> Path:
        return self.state / "pki"

    @property
    def config(self) -> Path:
        return self.state / "config"

    @property
    def kubeconfig(self) -> Path:
        return self.state / "kubeconfig"

    @property
    def control_socket(self) -> Path:
        return self.state / "control.sock"

    @property
    def cgroup(self) -> str:
        return f"paddle-testbed-{self.name}"

    @property
    def link(self) -> str:
        """The name of the link's end on the machine."""
        return f"ptb{self.outside}"

    @property
    def machine_address(self) -> str:
        return f"10.89.{self.outside}.1"

    @property
    def outside_address(self) -> str:
        return f"10.89.{self.outside}.2"

    @property
    def server(self) -> str:
        return f"https://{self.outside_address}:{API_PORT}"

    @property
    def ipv6(self) -> bool:
        return "ipv6" in self.parts

    @property
    def enforces_policies(self) -> bool:
        return "policies" in self.parts

    @property
    def services(self) -> list[str]:
        return [SERVICES_6, SERVICES] if self.ipv6 else [SERVICES]

    @property
    def pods(self) -> list[str]:
        return [PODS_6, PODS] if self.ipv6 else [PODS]

    def node_addresses(self, number: int) -> list[str]:
        """Its addresses, the preferred one first."""
        return [*([node_address_6(number)] if self.ipv6 else []), node_address(number)]

    def pod_subnets(self, number: int) -> list[str]:
        return [*([pod_subnet_6(number)] if self.ipv6 else []), pod_subnet(number)]

    def node_numbers(self) -> range:
        return range(1, self.nodes + 1)

    def node_state(self, number: int) -> Path:
        return self.state / node_name(number)

    def save(self) -> None:
        (self.state / "cluster.json").write_text(json.dumps(asdict(self), indent=1))


def load(state: str | Path) -> Layout:
    return Layout(**json.loads((Path(state) / "cluster.json").read_text()))


def node_name(number: int) -> str:
    return f"node{number}"


def node_address(number: int) -> str:
    return f"10.88.0.{10 + number}"


def pod_subnet(number: int) -> str:
    return f"10.245.{number}.0/24"


def node_address_6(number: int) -> str:
    return f"fd00:88::{10 + number:x}"


def pod_subnet_6(number: int) -> str:
    return f"fd00:245:{number:x}::/64"


def check_name(name: str) -> str:
    if not re.fullmatch(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?", name):
        raise ToolError(f"'{name}' cannot name a cluster: up to 20 small letters, digits and "
                        "dashes, a letter first")
    return name


def check_kubelet_directory(path: str) -> str:
    """Beneath /var, which each node has for itself: elsewhere nodes would share it."""
    if not re.fullmatch(r"(/[a-z0-9][a-z0-9._-]*){2,}", path) or not path.startswith("/var/"):
        raise ToolError(f"'{path}' cannot be kubelet's directory: it must be beneath /var, which "
                        "each node has for itself")
    return path


def node_number(word: str, nodes: int) -> int:
    """The number in a word such as 2 or node2."""
    digits = word.removeprefix("node")
    if not digits.isdigit() or not 1 <= int(digits) <= nodes:
        raise ToolError(f"there is no node '{word}': this cluster has node1 to node{nodes}")
    return int(digits)


def parse_parts(text: str) -> dict[str, str]:
    """'redis,kwok=100' -> {'redis': '', 'kwok': '100'}"""
    found = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in PARTS:
            raise ToolError(f"there is no optional part '{name}'; there are: {', '.join(PARTS)}")
        if value and (name != "kwok" or not value.isdigit()):
            raise ToolError(f"'{word}': only kwok takes a number, as in kwok=100")
        found[name] = value or (str(KWOK_NODES) if name == "kwok" else "")
    return found


def free_subnet(addresses: Iterable[str]) -> int:
    """The first X so that 10.89.X.0/30 meets none of the machine's addresses and routes. A wider
    network may hold it: our prefix is longer."""
    taken = {int(match[1]) for each in addresses
             if (match := re.match(r"10\.89\.(\d+)\.", each))}
    for number in range(256):
        if number not in taken:
            return number
    raise ToolError("all of 10.89.0.0/16 is in use: `tools/testbed list` shows the clusters of "
                    "this machine")
