# SPDX-License-Identifier: Apache-2.0
"""An S3 server at the far end of a link with a rate: in a network namespace of its own, with a
token bucket on its end of a veth pair, so that all connections share the rate. Uploads are not
slowed. Used inside place.enter(), which takes everything away at the end."""
import secrets
import socket
from pathlib import Path

from paddle_tools.sandbox import INSIDE, Daemon, run


class S3Server:
    address, port = "10.77.0.1", 7070
    access_key = "quickstart"

    def __init__(self, versitygw, mbit):
        self.secret_key = secrets.token_hex(16)
        data = INSIDE / "s3"
        data.mkdir()
        holder = Daemon("network", ["unshare", "--net", "sleep", "infinity"])
        network = f"/proc/{holder.process.pid}/ns/net"
        holder.wait_until(lambda: not Path(network).samefile("/proc/self/ns/net"))
        self.there = there = ["nsenter", f"--net={network}"]  # what runs a program beside it
        run(["ip", "link", "add", "client", "type", "veth", "peer", "name", "server", "netns",
             str(holder.process.pid)])
        run(["ip", "addr", "add", "10.77.0.2/24", "dev", "client"])
        run(["ip", "link", "set", "client", "up"])
        for words in ("link set lo up", f"addr add {self.address}/24 dev server",
                      "link set server up", "route add default via 10.77.0.2"):
            run([*there, "ip", *words.split()])
        run([*there, "tc", "qdisc", "add", "dev", "server", "root", "tbf", "rate", f"{mbit}mbit",
             "burst", "64kb", "latency", "100ms"])
        Daemon("s3", [*there, versitygw, "--port", f":{self.port}", "--quiet", "--keep-alive",
                      "posix", data],
               env={"PATH": "/usr/bin:/bin", "ROOT_ACCESS_KEY": self.access_key,
                    "ROOT_SECRET_KEY": self.secret_key}
               ).wait_until(lambda: socket.create_connection((self.address, self.port)).close() is None)

    @property
    def endpoint(self):
        return f"http://{self.address}:{self.port}"

    @staticmethod
    def sent():
        """Bytes that came over the link since it was made."""
        for line in Path("/proc/net/dev").read_text().splitlines():
            name, _, figures = line.partition(":")
            if name.strip() == "client":
                return int(figures.split()[0])
        return 0
