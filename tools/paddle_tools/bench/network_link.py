# SPDX-License-Identifier: Apache-2.0
"""The link to the S3 server (paddle_tools/shaped_s3.py) with a latency as well as a rate.

The latency comes from delay_proxy before the server, because not every kernel has netem: data waits
half a round trip in each direction, and a new connection one round trip more.
"""
import socket
import time
from pathlib import Path

from paddle_tools.s3 import S3Client
from paddle_tools.sandbox import Daemon, run
from paddle_tools.shaped_s3 import ShapedS3Server

FAR_PORT = 7071  # the server's own port is without the latency
BLAST_PORT = 7072
UNSHAPED_MBIT = 20_000

# Sends as many bytes as a client asks for: measures the link alone, without S3.
BLAST = f"""
import socket
server = socket.create_server(("127.0.0.1", {BLAST_PORT + 1}))
print("listening", flush=True)
while True:
    with server.accept()[0] as client:
        left = int(client.recv(64))
        while left > 0:
            left -= client.send(bytes(min(left, 1 << 20)))
"""


def is_listing(line: str) -> bool:
    """Whether a line of the log of requests is a LIST or a HEAD."""
    return " s3_List" in line or " s3_Head" in line


class Link:
    def __init__(self, programs: Path, versitygw: Path, round_trip_ms: int) -> None:
        self.server = ShapedS3Server(versitygw, UNSHAPED_MBIT)
        self.received = self.server.bytes_over_link
        proxy, address = str(programs / "delay_proxy"), self.server.address
        ports = {"delay": (FAR_PORT, self.server.port), "blast-delay": (BLAST_PORT, BLAST_PORT + 1)}
        commands = {"blast": ["python3", "-c", BLAST]}
        for name, (listens, serves) in ports.items():
            commands[name] = [proxy, address, str(listens), str(serves), str(round_trip_ms)]
        for name, argv in commands.items():
            Daemon(name, [*self.server.netns_prefix, *argv]).wait_for_line("listening")

    def shape(self, mbit: int) -> None:
        run([*self.server.netns_prefix, "tc", "qdisc", "change", "dev", "server", "root", "tbf",
             "rate", f"{mbit}mbit", "burst", "64kb", "latency", "100ms"])

    def endpoint(self, far: bool) -> str:
        return f"http://{self.server.address}:{FAR_PORT if far else self.server.port}"

    def client(self) -> S3Client:
        return S3Client(self.server.address, self.server.port, self.server.access_key,
                        self.server.secret_key)

    def requests_mark(self) -> int:
        """Where the server's log of requests ends now."""
        return self.server.access_log.stat().st_size if self.server.access_log.exists() else 0

    def listings_since(self, mark: int) -> int:
        """Requests since then that list a bucket, or ask for an object without reading it."""
        with open(self.server.access_log, "rb") as log:
            log.seek(mark)
            return sum(1 for line in log if is_listing(line.decode(errors="replace")))

    def blast(self, size: int) -> float:
        """Seconds for `size` bytes over one TCP connection."""
        begin = time.monotonic()
        with socket.create_connection((self.server.address, BLAST_PORT)) as server:
            server.sendall(str(size).encode())
            while size > 0:
                size -= len(server.recv(1 << 20))
        return time.monotonic() - begin
