# SPDX-License-Identifier: Apache-2.0
"""What the programs of a cluster answer over HTTP, to those with a token and to those without."""
import base64
import json
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.e2e.cluster import Cluster
from paddle_tools.json_types import Json

RUNTIME, METRICS, HEALTH, CLIENT = 7716, 8080, 8081, 9567
SET = "batch.paddlepaddle.org/sampleset"
# Runs on the cluster's host, which reaches pods; a file that only root can read has the tokens.
SCRIPT = """
import http.client, json, os, ssl, sys
asks = json.load(open(sys.argv[1]))
os.unlink(sys.argv[1])
context = ssl._create_unverified_context()
for ask in asks:
    try:
        wire = http.client.HTTPSConnection if ask["tls"] else http.client.HTTPConnection
        more = {"context": context} if ask["tls"] else {}
        wire = wire(ask["host"], ask["port"], timeout=3, **more)
        wire.request("GET", ask["path"], headers=ask["headers"])
        answer = wire.getresponse()
        text = str(answer.getheaders()) + answer.read(1 << 20).decode(errors="replace")
        print(json.dumps({"where": ask["where"], "text": text}))
        wire.close()
    except (OSError, http.client.HTTPException):
        pass  # a policy keeps the host out, or the pod has just ended
"""


def replies(cluster: Cluster) -> list[tuple[str, bytes]]:
    """(what answered, its answer) of all managers, runtimes and mount pods that answer."""
    tokens = {(each["metadata"]["namespace"], each["metadata"]["name"]):
              base64.b64decode(each.get("data", {}).get("token", "")).decode(errors="replace")
              for each in cluster.list("secrets", None, SET)}
    asks = [ask for pod in cluster.list("pods", None) for ask in asks_of(pod, tokens)]
    if not asks:
        return []
    file = Path(cluster.kubeconfig).parent / "asks.json"
    file.touch(0o600)
    file.write_text(json.dumps(asks))
    told = cluster.on("host", "python3", "-c", SCRIPT, file, limit=300)
    answers = [json.loads(line) for line in told.splitlines()]
    return [(each["where"], each["text"].encode()) for each in answers]


def asks_of(pod: Json, tokens: dict[tuple[str, str], str]) -> Iterator[Json]:
    meta, address = pod["metadata"], pod.get("status", {}).get("podIP")
    if not address or pod["status"].get("phase") != "Running":
        return
    labels, ns, name = meta.get("labels", {}), meta["namespace"], meta["name"]

    def ask(port: int, path: str, tls: bool = False, token: str = "") -> Json:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return {"host": address, "port": port, "path": path, "tls": tls, "headers": headers,
                "where": f"the answer of {ns}/{name} to {path}"}

    if str(labels.get("control-plane", "")).endswith("-manager"):
        yield ask(METRICS, "/metrics")
        yield from (ask(HEALTH, path) for path in ("/healthz", "/readyz", "/"))
    if SET in labels:
        token = tokens.get((ns, f"{labels[SET]}-runtime"), "")
        for path in ("/healthz", "/readyz", "/metrics", "/v1/status", "/v1/jobs", "/none"):
            yield ask(RUNTIME, path, tls=True)
            yield ask(RUNTIME, path, tls=True, token=token)
    if labels.get("app.kubernetes.io/name") == "juicefs-mount":
        yield ask(CLIENT, "/metrics")
