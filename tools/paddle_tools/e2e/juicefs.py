# SPDX-License-Identifier: Apache-2.0
"""JuiceFS volumes as users write them: Secret, static volume and claim, and pods that use it.

The volume's metadata is in the cluster's Redis, its data on the cluster's S3 server. The keys of
the S3 server go into the Secret only.
"""
import secrets
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from paddle_tools.e2e.cluster import TOP, Cluster, expect
from paddle_tools.images import definitions
from paddle_tools.json_types import Json
from paddle_tools.s3 import S3Client

IMAGES = ("juicefs-csi-driver", "juicefs-mount")
DRIVER = "csi.juicefs.com"
SPACE = "juicefs-csi"  # of our manifest
# It has a shell: good enough to use a volume.
SHELL = definitions.load(TOP)["juicefs-mount"]["reference"]
# The driver formats volumes that were made by hand, with their keys in its arguments. Those of
# SampleSets are formatted by us, before the driver sees them.
FORMAT_OF_DRIVER = ("the command line of /usr/local/bin/juicefs format",)
METADATA = "redis://10.88.0.1:6379"
# The cluster's Redis takes every password of its default user: volumes of scenarios have this one,
# so that a leak of it is found.
METADATA_PASSWORD = f"canary-{secrets.token_hex(12)}"


def keys(cluster: Cluster) -> dict[str, str]:
    text = (Path(cluster.kubeconfig).parent / "s3.env").read_text()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def s3_address(cluster: Cluster) -> tuple[str, int]:
    """Host and port of the cluster's S3 server, as the machine reaches it."""
    server = urlsplit(keys(cluster)["S3_ENDPOINT_OUTSIDE"])
    expect(server.hostname and server.port, f"the S3 server has no address: {server}")
    return str(server.hostname), int(server.port or 0)


def redis(cluster: Cluster, *commands: Sequence[object]) -> None:
    """Sends commands, as users do with redis-cli."""
    with socket.create_connection((s3_address(cluster)[0], 6379), timeout=10) as wire:
        for words in commands:
            wire.sendall(f"*{len(words)}\r\n".encode() + b"".join(
                f"${len(str(each))}\r\n{each}\r\n".encode() for each in words))
            answer = wire.recv(65536).decode()
            expect(answer.startswith("+"), f"Redis refused '{words[0]}': {answer}")


def empty_databases(cluster: Cluster, *numbers: int) -> None:
    """Redis has sixteen databases for all scenarios: an earlier one may have used these."""
    for number in numbers:
        redis(cluster, ("SELECT", number), ("FLUSHDB",))


def volume(cluster: Cluster, name: str, database: int, cache: str,
           ns: str = "default") -> list[Json]:
    """Secret, volume and claim; makes the bucket. `database` is the number of a Redis database that
    is not in use: it is emptied."""
    empty_databases(cluster, database)
    s3 = keys(cluster)
    S3Client(*s3_address(cluster), s3["AWS_ACCESS_KEY_ID"],
             s3["AWS_SECRET_ACCESS_KEY"]).make_bucket(name)
    secret = {"name": name, "metaurl": f"{METADATA}/{database}", "storage": "s3",
              "bucket": f"{s3['S3_ENDPOINT']}/{name}", "access-key": s3["AWS_ACCESS_KEY_ID"],
              "secret-key": s3["AWS_SECRET_ACCESS_KEY"]}
    size = {"storage": "1Gi"}
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": secret},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
         "spec": {"capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "",
                  "persistentVolumeReclaimPolicy": "Retain",
                  "mountOptions": [f"cache-dir={cache}", "cache-size=512"],
                  "csi": {"driver": DRIVER, "volumeHandle": name, "fsType": "juicefs",
                          "nodePublishSecretRef": {"name": name, "namespace": ns}}}},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
         "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name,
                  "resources": {"requests": size}}}]


def pod(name: str, command: list[str], node: str | None = None, **more: Any) -> Json:
    spec = {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": SHELL, "imagePullPolicy": "IfNotPresent",
                            "command": command,
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}], **more}
    if node:  # not nodeName: kubelet would take the pod before its claim is bound
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def user(name: str, claim: str, node: str) -> Json:
    """A pod with the volume at /data. It is not evicted while its node is down."""
    made = pod(name, ["sleep", "infinity"], node,
               volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}],
               tolerations=[{"operator": "Exists", "effect": "NoExecute"}])
    made["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "data", "mountPath": "/data", "mountPropagation": "HostToContainer"}]
    return made


def formatting(name: str) -> Json:
    """A pod that formats the volume. Without it the first mount formats, and the second pod of a
    node gets a mount of its own, because sharing a mount needs the file system's id."""
    def key(field: str) -> Json:
        return {"valueFrom": {"secretKeyRef": {"name": name, "key": field}}}

    made = pod(f"{name}-format",
               ["sh", "-c", 'juicefs format --storage "$STORAGE" --bucket "$BUCKET" '
                                  '"$META" "$NAME"'], restartPolicy="OnFailure")
    made["spec"]["containers"][0]["env"] = [
        {"name": variable, **key(field)} for variable, field in
        {"STORAGE": "storage", "BUCKET": "bucket", "META": "metaurl", "NAME": "name",
         "ACCESS_KEY": "access-key", "SECRET_KEY": "secret-key"}.items()]
    return made


# --- the state ------------------------------------------------------------------------------------

def registered(cluster: Cluster) -> list[str]:
    """The nodes whose kubelet has registered the driver."""
    return sorted(each["metadata"]["name"] for each in cluster.list("csinodes", ns=None)
                  if DRIVER in [known["name"] for known in each["spec"].get("drivers") or []])


def nodes(cluster: Cluster) -> list[str]:
    return sorted(each["metadata"]["name"] for each in cluster.list("nodes", ns=None))


def ready(cluster: Cluster, *names: str, ns: str = "default") -> bool:
    """Whether these pods are Ready."""
    for name in names:
        conditions = (cluster.get("pod", name, ns) or {}).get("status", {}).get("conditions", [])
        if not any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            return False
    return True


def mount_pods(cluster: Cluster, volume_name: str, node: str | None = None) -> list[Json]:
    return [each for each in cluster.list("pods", None, f"volume-id={volume_name}")
            if node in (None, each["spec"]["nodeName"])]


def references(mount_pod: Json) -> list[str]:
    """The targets that a mount pod serves."""
    return [target for key, target in mount_pod["metadata"]["annotations"].items()
            if key.startswith("juicefs-") and target.startswith("/var/lib/kubelet/")]


def mounts(cluster: Cluster, node: str, volume_name: str = "") -> list[str]:
    """The JuiceFS lines of a node's mount table, of one volume or of all."""
    start = f"JuiceFS:{volume_name} " if volume_name else "JuiceFS:"
    return [line for line in cluster.on(node, "cat", "/proc/mounts").splitlines()
            if line.startswith(start)]


def write(cluster: Cluster, pod_name: str, file: str, mebibytes: int) -> None:
    cluster.kubectl("exec", pod_name, "--", "sh", "-c",
                    f"dd if=/dev/urandom of=/data/{file} bs=1048576 count={mebibytes} 2>/dev/null")


def checksum(cluster: Cluster, pod_name: str, file: str) -> str:
    return cluster.kubectl("exec", pod_name, "--", "sha256sum", f"/data/{file}").split()[0]


def wait_cached(cluster: Cluster, node: str, folder: str, pod_name: str, file: str,
                mebibytes: int) -> None:
    """Waits until a node's cache has that much of a file. JuiceFS writes its cache after the read
    and skips blocks when the disk is too slow, so the file is read repeatedly, without the page
    cache."""
    def is_cached() -> bool:
        cluster.kubectl("exec", pod_name, "--", "dd", f"if=/data/{file}", "of=/dev/null",
                        "bs=1048576", "iflag=direct")
        return int(cluster.on(node, "du", "-sm", folder).split()[0]) >= mebibytes

    cluster.wait(f"{mebibytes} MiB in {folder} of {node}", is_cached)


def driver_pod(cluster: Cluster, node: str) -> Json:
    found = [each for each in cluster.list("pods", None, "app=juicefs-csi-node")
             if each["spec"].get("nodeName") == node
             and "deletionTimestamp" not in each["metadata"]]
    expect(len(found) == 1, f"{node} has {len(found)} pods of the driver")
    return found[0]


def restarts(found: Json, container: str) -> int:
    return next(each["restartCount"] for each in found["status"]["containerStatuses"]
                if each["name"] == container)
