# SPDX-License-Identifier: Apache-2.0
"""The Cache Runtime Server's API as the operator speaks it: over TLS, with the set's token.

Pods are reached from the cluster's host; token and authority go there by a file that root alone may
read.
"""
import base64
import json
from pathlib import Path

from paddle_tools.e2e.cluster import SYSTEM, Failed, expect

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


def call(cluster, name, method, path, body=None, partition=0, ns=SYSTEM):
    """(status, text)"""
    secret = cluster.get("secret", f"{name}-runtime", ns)
    pod = cluster.get("pod", f"{name}-runtime-{partition}", ns)
    expect(secret and pod, f"{name} has no runtime {partition}")
    data = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
    file = Path(cluster.kubeconfig).parent / "ask.json"
    file.touch(0o600)
    file.write_text(json.dumps({
        "host": pod["status"]["podIP"], "authority": data["ca.crt"], "token": data["token"],
        "method": method, "path": path, "body": json.dumps(body) if body is not None else ""}))
    said = json.loads(cluster.on("host", "python3", "-c", SCRIPT, file))
    return said["status"], said["body"]


def run_job(cluster, name, job, request, partition=0, ns=SYSTEM, limit=120):
    """A job of one runtime to its end; its report."""
    status, text = call(cluster, name, "PUT", f"/v1/jobs/{job}", request, partition, ns)
    expect(status == 200, f"the runtime refused {job}: {status} {text}")

    def ended():
        report = json.loads(call(cluster, name, "GET", f"/v1/jobs/{job}", None, partition, ns)[1])
        return report if report["state"] not in ("queued", "running") else None
    report = cluster.wait(f"{job} ends", ended, limit)
    if report["state"] != "succeeded":
        raise Failed(f"{job} ended as {report['state']}: {report['error']}")
    return report
