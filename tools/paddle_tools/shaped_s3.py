# SPDX-License-Identifier: Apache-2.0
"""An S3 server behind a link with a limited rate.

The server is in a network namespace of its own, with a token bucket on its end of a veth pair, so
that all connections share the rate. Uploads are not slowed. For programs in a sandbox, which
removes everything at its end.
"""
import secrets
import socket
from pathlib import Path

from paddle_tools.sandbox import SANDBOX, Daemon, run


class ShapedS3Server:
    address, port = "10.77.0.1", 7070
    access_key = "quickstart"

    def __init__(self, versitygw: str | Path, mbit: int) -> None:
        self.secret_key = secrets.token_hex(16)
        self.access_log = SANDBOX / "s3-requests.log"
        data = SANDBOX / "s3"
        data.mkdir()
        holder = Daemon("network", ["unshare", "--net", "sleep", "infinity"])
        network = f"/proc/{holder.process.pid}/ns/net"
        holder.wait_until(lambda: not Path(network).samefile("/proc/self/ns/net"))
        self.netns_prefix = ["nsenter", f"--net={network}"]  # runs a command beside the server
        run(["ip", "link", "add", "client", "type", "veth", "peer", "name", "server", "netns",
             str(holder.process.pid)])
        run(["ip", "addr", "add", "10.77.0.2/24", "dev", "client"])
        run(["ip", "link", "set", "client", "up"])
        for words in ("link set lo up", f"addr add {self.address}/24 dev server",
                      "link set server up", "route add default via 10.77.0.2"):
            run([*self.netns_prefix, "ip", *words.split()])
        run([*self.netns_prefix, "tc", "qdisc", "add", "dev", "server", "root", "tbf", "rate",
             f"{mbit}mbit", "burst", "64kb", "latency", "100ms"])
        daemon = Daemon("s3", [*self.netns_prefix, versitygw, "--port", f":{self.port}", "--quiet",
                               "--keep-alive", "--access-log", self.access_log, "posix", data],
                        env={"PATH": "/usr/bin:/bin", "ROOT_ACCESS_KEY": self.access_key,
                             "ROOT_SECRET_KEY": self.secret_key})
        daemon.wait_until(self._accepts_connections)

    def _accepts_connections(self) -> bool:
        socket.create_connection((self.address, self.port)).close()
        return True

    @property
    def endpoint(self) -> str:
        return f"http://{self.address}:{self.port}"

    @staticmethod
    def bytes_over_link() -> int:
        """Bytes that the client received over the link since it was made."""
        for line in Path("/proc/net/dev").read_text().splitlines():
            name, _, counters = line.partition(":")
            if name.strip() == "client":
                return int(counters.split()[0])
        return 0
