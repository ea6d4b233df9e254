# SPDX-License-Identifier: Apache-2.0
"""Calls the API of a Cache Runtime Server as the operator does: over TLS, with the set's token.

The calls are made on the cluster's host; a file that only root can read has the token and the
authority.
"""
import base64
import json
from pathlib import Path

from paddle_tools.e2e.cluster import SYSTEM, Cluster, ScenarioFailed, expect
from paddle_tools.json_types import Json

SCRIPT = """
import http.client, json, os, ssl, sys
ask = json.load(open(sys.argv[1]))
os.unlink(sys.argv[1])
context = ssl.create_default_context(cadata=ask["authority"])
context.check_hostname = False
wire = http.client.HTTPSConnection(ask["host"], 7716, timeout=20, context=context)
wire.request(ask["method"], ask["path"], ask["body"], {"Authorization": "Bearer " + ask["token"],
                                                       "Content-Type": "application/json"})
answer = wire.getresponse()
names = [value for kind, value in wire.sock.getpeercert()["subjectAltName"]] if wire.sock else []
print(json.dumps({"status": answer.status, "body": answer.read().decode(), "names": names}))
"""


def call(cluster: Cluster, name: str, method: str, path: str, body: Json | None = None,
         partition: int = 0, ns: str = SYSTEM) -> tuple[int, str]:
    """Returns (status, text)."""
    secret = cluster.get("secret", f"{name}-runtime", ns)
    pod = cluster.get("pod", f"{name}-runtime-{partition}", ns)
    expect(secret and pod, f"{name} has no runtime {partition}")
    data = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
    file = Path(cluster.kubeconfig).parent / "ask.json"
    file.touch(0o600)
    file.write_text(json.dumps({
        "host": pod["status"]["podIP"], "authority": data["ca.crt"], "token": data["token"],
        "method": method, "path": path, "body": json.dumps(body) if body is not None else ""}))
    answer = json.loads(cluster.on("host", "python3", "-c", SCRIPT, file))
    return answer["status"], answer["body"]


def run_job(cluster: Cluster, name: str, job: str, request: Json, partition: int = 0,
            ns: str = SYSTEM, limit: float = 120) -> Json:
    """Runs a job of one runtime to its end; returns its report."""
    status, text = call(cluster, name, "PUT", f"/v1/jobs/{job}", request, partition, ns)
    expect(status == 200, f"the runtime refused {job}: {status} {text}")

    def ended() -> Json | None:
        report = json.loads(call(cluster, name, "GET", f"/v1/jobs/{job}", None, partition, ns)[1])
        return report if report["state"] not in ("queued", "running") else None
    report = cluster.wait(f"{job} ends", ended, limit)
    if report["state"] != "succeeded":
        raise ScenarioFailed(f"{job} ended as {report['state']}: {report['error']}")
    return report
