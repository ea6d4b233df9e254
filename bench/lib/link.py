# SPDX-License-Identifier: Apache-2.0
"""An S3 server at the far end of a link: its own network namespace, a rate, and a distance.

The rate is a token bucket (tbf) on the server's end of a veth pair, so all connections share it.
The distance is delay_proxy before the server, because not every kernel has netem: data waits half a
round trip in each direction, and a new connection one round trip more.
"""
import socket
import time
from pathlib import Path

from place import INSIDE, Daemon, run

SERVER = "10.77.0.1"
CLIENT = "10.77.0.2"
NEAR_PORT = 7070  # without the distance
FAR_PORT = 7071
BLAST_PORT = 7072
ACCESS_KEY, SECRET_KEY = "bench", "bench-secret-key"
QUEUE = "100ms"  # how long data may wait before the link, as in a usual router

# Sends as many bytes as it is told to, to whoever asks: the link alone, without S3.
BLAST = """
import socket
server = socket.create_server(("127.0.0.1", %d))
print("listening", flush=True)
while True:
    with server.accept()[0] as client:
        left = int(client.recv(64))
        while left > 0:
            left -= client.send(bytes(min(left, 1 << 20)))
"""


class Link:
    def __init__(self, programs, versitygw, round_trip_ms):
        self.data = INSIDE / "s3"
        self.data.mkdir()
        holder = Daemon("network", ["unshare", "--net", "sleep", "infinity"])
        self._network = f"/proc/{holder.process.pid}/ns/net"
        holder.wait_until(lambda: Path(self._network).stat() != Path("/proc/self/ns/net").stat())
        run(["ip", "link", "add", "client", "type", "veth", "peer", "name", "server", "netns",
             str(holder.process.pid)])
        run(["ip", "addr", "add", f"{CLIENT}/24", "dev", "client"])
        run(["ip", "link", "set", "client", "up"])
        for words in ("link set lo up", f"addr add {SERVER}/24 dev server", "link set server up"):
            self._there(["ip", *words.split()])
        self._daemon("s3", [versitygw, "--port", f":{NEAR_PORT}", "--access", ACCESS_KEY, "--secret",
                            SECRET_KEY, "--quiet", "--keep-alive", "posix", self.data]
                     ).wait_until(lambda: socket.create_connection((SERVER, NEAR_PORT)).close() is None)
        self._daemon("delay", [programs / "delay_proxy", SERVER, FAR_PORT, NEAR_PORT, round_trip_ms]
                     ).wait_for_line("listening")
        self._daemon("blast", ["python3", "-c", BLAST % (BLAST_PORT + 1)]).wait_for_line("listening")
        self._daemon("blast-delay", [programs / "delay_proxy", SERVER, BLAST_PORT, BLAST_PORT + 1,
                                     round_trip_ms]).wait_for_line("listening")

    def _there(self, argv):
        return run(["nsenter", f"--net={self._network}", *argv])

    def _daemon(self, name, argv):
        return Daemon(name, ["nsenter", f"--net={self._network}", *argv])

    def shape(self, mbit):
        self._there(["tc", "qdisc", "replace", "dev", "server", "root", "tbf", "rate", f"{mbit}mbit",
                     "burst", "64kb", "latency", QUEUE])

    def endpoint(self, far):
        return f"http://{SERVER}:{FAR_PORT if far else NEAR_PORT}"

    def blast(self, size):
        """Seconds for `size` bytes over one TCP connection."""
        begin = time.monotonic()
        with socket.create_connection((SERVER, BLAST_PORT)) as server:
            server.sendall(str(size).encode())
            while size > 0:
                size -= len(server.recv(1 << 20))
        return time.monotonic() - begin

    @staticmethod
    def received():
        """Bytes that came over the link since it was made."""
        for line in Path("/proc/net/dev").read_text().splitlines():
            if line.strip().startswith("client:"):
                return int(line.partition(":")[2].split()[0])
        return 0
