# SPDX-License-Identifier: Apache-2.0
"""JuiceFS volumes as users write them: Secret, static volume and claim, and pods that use it.

The volume's metadata is in the cluster's Redis, its data on the cluster's S3 server. Keys are read
where the cluster keeps them and go into the Secret only.
"""
import socket
from pathlib import Path
from urllib.parse import urlsplit

from paddle_tools.e2e.cluster import expect
from paddle_tools.s3 import S3

IMAGES = ("juicefs-csi-driver", "juicefs-mount")
DRIVER = "csi.juicefs.com"
SPACE = "kube-system"
SHELL = "juicefs-mount:ce-v1.4.1"  # has a shell: good enough to use a volume
METADATA = "redis://10.88.0.1:6379"


def keys(cluster):
    text = (Path(cluster.kubeconfig).parent / "s3.env").read_text()
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def redis(cluster, *commands):
    """For what users do with redis-cli."""
    outside = urlsplit(keys(cluster)["S3_ENDPOINT_OUTSIDE"]).hostname
    with socket.create_connection((outside, 6379), timeout=10) as wire:
        for words in commands:
            wire.sendall(f"*{len(words)}\r\n".encode() + b"".join(
                f"${len(str(each))}\r\n{each}\r\n".encode() for each in words))
            answer = wire.recv(65536).decode()
            expect(answer.startswith("+"), f"Redis refused '{words[0]}': {answer}")


def empty_databases(cluster, *numbers):
    """Redis has sixteen for all scenarios; another may have left a volume there."""
    for number in numbers:
        redis(cluster, ("SELECT", number), ("FLUSHDB",))


def volume(cluster, name, database, cache, ns="default"):
    """Secret, volume and claim; the bucket is made. `database` is a number of Redis that nobody
    else uses now: it is emptied."""
    empty_databases(cluster, database)
    s3 = keys(cluster)
    server = urlsplit(s3["S3_ENDPOINT_OUTSIDE"])
    S3(server.hostname, server.port, s3["AWS_ACCESS_KEY_ID"],
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


def pod(name, command, node=None, **more):
    spec = {"terminationGracePeriodSeconds": 1,
            "containers": [{"name": "main", "image": SHELL, "imagePullPolicy": "IfNotPresent",
                            "command": command,
                            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}], **more}
    if node:  # not nodeName: kubelet would take the pod before its claim is bound
        spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def user(name, claim, node):
    """A pod with the volume at /data that stays while its node is away."""
    made = pod(name, ["sleep", "infinity"], node,
               volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}],
               tolerations=[{"operator": "Exists", "effect": "NoExecute"}])
    made["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "data", "mountPath": "/data", "mountPropagation": "HostToContainer"}]
    return made


def formatting(name):
    """Makes the volume's file system. A user may leave that to the first mount; then the second pod
    of a node gets a mount of its own, because the file system's id counts for sharing one."""
    def key(field):
        return {"valueFrom": {"secretKeyRef": {"name": name, "key": field}}}

    made = pod(f"{name}-format", ["sh", "-c", 'juicefs format --storage "$STORAGE" --bucket "$BUCKET" '
                                  '"$META" "$NAME"'], restartPolicy="OnFailure")
    made["spec"]["containers"][0]["env"] = [
        {"name": variable, **key(field)} for variable, field in
        {"STORAGE": "storage", "BUCKET": "bucket", "META": "metaurl", "NAME": "name",
         "ACCESS_KEY": "access-key", "SECRET_KEY": "secret-key"}.items()]
    return made


# --- what is seen ---------------------------------------------------------------------------------

def registered(cluster):
    """Nodes whose kubelet knows the driver."""
    return sorted(each["metadata"]["name"] for each in cluster.list("csinodes", ns=None)
                  if DRIVER in [known["name"] for known in each["spec"].get("drivers") or []])


def nodes(cluster):
    return sorted(each["metadata"]["name"] for each in cluster.list("nodes", ns=None))


def ready(cluster, *names, ns="default"):
    """True when these pods are Ready."""
    for name in names:
        conditions = (cluster.get("pod", name, ns) or {}).get("status", {}).get("conditions", [])
        if not any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
            return False
    return True


def mount_pods(cluster, volume_name, node=None):
    return [each for each in cluster.list("pods", SPACE, f"volume-id={volume_name}")
            if node in (None, each["spec"]["nodeName"])]


def references(mount_pod):
    """Targets that a mount pod serves."""
    return [target for key, target in mount_pod["metadata"]["annotations"].items()
            if key.startswith("juicefs-") and target.startswith("/var/lib/kubelet/")]


def mounts(cluster, node, volume_name=""):
    """Lines of JuiceFS in a node's own mount table; of one volume, or of all."""
    start = f"JuiceFS:{volume_name} " if volume_name else "JuiceFS:"
    return [line for line in cluster.on(node, "cat", "/proc/mounts").splitlines()
            if line.startswith(start)]


def write(cluster, pod_name, file, mebibytes):
    cluster.kubectl("exec", pod_name, "--", "sh", "-c",
                    f"dd if=/dev/urandom of=/data/{file} bs=1048576 count={mebibytes} 2>/dev/null")


def checksum(cluster, pod_name, file):
    return cluster.kubectl("exec", pod_name, "--", "sha256sum", f"/data/{file}").split()[0]


def wait_cached(cluster, node, folder, pod_name, file, mebibytes):
    """Waits until a node's cache holds that much of what the pod reads. JuiceFS writes its cache
    behind the reads and leaves out what the disk is too slow for, so the file is read again, past
    the kernel's pages."""
    def held():
        cluster.kubectl("exec", pod_name, "--", "dd", f"if=/data/{file}", "of=/dev/null",
                        "bs=1048576", "iflag=direct")
        return int(cluster.on(node, "du", "-sm", folder).split()[0]) >= mebibytes

    cluster.wait(f"{mebibytes} MiB in {folder} of {node}", held)


def driver_pod(cluster, node):
    found = [each for each in cluster.list("pods", SPACE, "app=juicefs-csi-node")
             if each["spec"].get("nodeName") == node and "deletionTimestamp" not in each["metadata"]]
    expect(len(found) == 1, f"{node} has {len(found)} pods of the driver")
    return found[0]


def restarts(found, container):
    return next(each["restartCount"] for each in found["status"]["containerStatuses"]
                if each["name"] == container)
