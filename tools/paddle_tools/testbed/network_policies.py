# SPDX-License-Identifier: Apache-2.0
"""The optional part `policies`: NetworkPolicies are enforced. kube-router runs on each node as a
firewall (`testbed.node` starts it); without it every pod reaches every other."""
import functools
import http.client
from typing import TYPE_CHECKING

from paddle_tools.testbed.layout import POLICIES_PORT, node_address, node_name

if TYPE_CHECKING:
    from paddle_tools.testbed.host import Host

PROGRAMS = ["kube-router"]


def start(host: "Host", _: str) -> None:
    for number in host.layout.node_numbers():
        host.wait(f"the firewall of {node_name(number)}", functools.partial(healthy, number))


def healthy(number: int) -> bool:
    """Whether kube-router has made its rules once; OSError when it does not answer."""
    wire = http.client.HTTPConnection(node_address(number), POLICIES_PORT, timeout=2)
    try:
        wire.request("GET", "/healthz")
        return wire.getresponse().status == 200
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        wire.close()
