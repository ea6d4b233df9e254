# SPDX-License-Identifier: Apache-2.0
"""A small BOS on the cluster's host, at a Service of the cluster, so that its address is a name."""
import sys
from pathlib import Path

from paddle_tools.e2e import certificates
from paddle_tools.e2e.cluster import SYSTEM, Cluster
from paddle_tools.e2e.daemons import HOST, Daemons

BUCKET = "demo"
SERVICE, PORT = "bos", 8443


class Bos:
    """Serves when the constructor returns; ends with its daemons."""

    def __init__(self, cluster: Cluster, daemons: Daemons, objects: dict[str, bytes]) -> None:
        self._cluster = cluster
        self._log = daemons.directory / "bos.out"
        self.endpoint = f"{SERVICE}.{SYSTEM}.svc.cluster.local"
        certificates.make(daemons.directory, f"DNS:{self.endpoint}")
        self.authority = (daemons.directory / "ca.crt").read_text()
        for key, data in objects.items():
            place = daemons.directory / "objects" / key
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        program = Path(__file__).with_name("bos_server.py")
        daemons.start("bos", sys.executable, program, PORT, BUCKET, daemons.directory)
        meta = {"name": SERVICE, "labels": {"kubernetes.io/service-name": SERVICE}}
        ports = [{"name": "https", "port": 443, "targetPort": PORT}]
        cluster.apply([
            {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": ports}},
            {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta,
             "addressType": "IPv4", "ports": [{"name": "https", "port": PORT}],
             "endpoints": [{"addresses": [HOST]}]}], SYSTEM)
        daemons.wait("BOS", lambda: "serves" in self._log.read_text())

    def uri(self, prefix: str) -> str:
        return f"bos://{BUCKET}.{self.endpoint}/{prefix}"

    def callers(self) -> list[str]:
        """The beginning of each Authorization that came, up to the access key; "" for none."""
        return [line.removeprefix("caller ") for line in self._log.read_text().splitlines()
                if line.startswith("caller ")]

    def remove(self) -> None:
        self._cluster.kubectl("-n", SYSTEM, "delete", "service,endpointslice", SERVICE)
