# SPDX-License-Identifier: Apache-2.0
"""The optional part `policies`: NetworkPolicies count. kube-router runs on each node as a firewall
(`testbed.node` starts it there); without it the network lets everybody talk to everybody."""
import http.client

from paddle_tools.testbed.layout import POLICIES_PORT, node_address, node_name

PROGRAMS = ["kube-router"]


def start(host, _):
    for number in host.layout.node_numbers():
        host.wait(f"the firewall of {node_name(number)}", lambda each=number: healthy(each))


def healthy(number):
    """True when it has made its rules once, else OSError or False."""
    wire = http.client.HTTPConnection(node_address(number), POLICIES_PORT, timeout=2)
    try:
        wire.request("GET", "/healthz")
        return wire.getresponse().status == 200
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        wire.close()
