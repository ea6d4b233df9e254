# SPDX-License-Identifier: Apache-2.0
"""The link to the S3 server (paddle_tools/shaped_s3.py) with a distance as well as a rate.

The distance is delay_proxy before the server, because not every kernel has netem: data waits half a
round trip in each direction, and a new connection one round trip more.
"""
import socket
import time

from paddle_tools.s3 import S3
from paddle_tools.sandbox import Daemon, run
from paddle_tools.shaped_s3 import S3Server

FAR_PORT = 7071  # the server's own port is without the distance
BLAST_PORT = 7072
UNSHAPED_MBIT = 20_000

# Sends as many bytes as it is told to, to whoever asks: the link alone, without S3.
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


class Link:
    def __init__(self, programs, versitygw, round_trip_ms):
        self.server = S3Server(versitygw, UNSHAPED_MBIT)
        self.received = self.server.sent  # bytes that came over it since it was made
        proxy, address = programs / "delay_proxy", self.server.address
        for name, argv in {
                "delay": [proxy, address, FAR_PORT, self.server.port, round_trip_ms],
                "blast": ["python3", "-c", BLAST],
                "blast-delay": [proxy, address, BLAST_PORT, BLAST_PORT + 1, round_trip_ms]}.items():
            Daemon(name, [*self.server.there, *argv]).wait_for_line("listening")

    def shape(self, mbit):
        run([*self.server.there, "tc", "qdisc", "change", "dev", "server", "root", "tbf", "rate",
             f"{mbit}mbit", "burst", "64kb", "latency", "100ms"])

    def endpoint(self, far):
        return f"http://{self.server.address}:{FAR_PORT if far else self.server.port}"

    def client(self):
        return S3(self.server.address, self.server.port, self.server.access_key,
                  self.server.secret_key)

    def blast(self, size):
        """Seconds for `size` bytes over one TCP connection."""
        begin = time.monotonic()
        with socket.create_connection((self.server.address, BLAST_PORT)) as server:
            server.sendall(str(size).encode())
            while size > 0:
                size -= len(server.recv(1 << 20))
        return time.monotonic() - begin
