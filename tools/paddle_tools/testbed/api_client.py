# SPDX-License-Identifier: Apache-2.0
"""The few calls to the cluster's API server that the test bed itself makes."""
import http.client
import json
import ssl
from typing import Any

from paddle_tools.json_types import Json
from paddle_tools.testbed.layout import API_PORT, HOST, Layout


class ApiClient:
    def __init__(self, layout: Layout, host: str = HOST, timeout: float = 5) -> None:
        self._host, self._timeout = host, timeout
        self._tls = ssl.create_default_context(cafile=layout.pki / "ca.crt")
        self._tls.load_cert_chain(layout.pki / "bed.crt", layout.pki / "bed.key")

    def call(self, method: str, path: str, body: Json | None = None) -> tuple[int, str]:
        """Returns (status, text). Raises OSError when no server answers."""
        connection = http.client.HTTPSConnection(self._host, API_PORT,
                                                 timeout=self._timeout, context=self._tls)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        """The object, or None when the status is not 200."""
        status, text = self.call("GET", path)
        return json.loads(text) if status == 200 else None

    def ready(self) -> bool:
        return self.call("GET", "/readyz")[0] == 200

    def ready_nodes(self) -> set[str]:
        """The names of the nodes that are Ready."""
        listed = self.get("/api/v1/nodes") or {"items": []}
        return {node["metadata"]["name"] for node in listed["items"]
                for each in node["status"].get("conditions", [])
                if each["type"] == "Ready" and each["status"] == "True"}

    def pods_may_be_created(self) -> bool:
        return self.get("/api/v1/namespaces/default/serviceaccounts/default") is not None
