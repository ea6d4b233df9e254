# SPDX-License-Identifier: Apache-2.0
"""SampleSets with JuiceFS as users write them, their samples, and their state.

Samples are on the cluster's S3 server; a volume's metadata is in the cluster's Redis, its data in
Redis or on the S3 server. Keys and passwords go into Secrets only.
"""
import base64
import functools
import hashlib
import json
import random
import secrets
from typing import Any

from paddle_tools.e2e import jobs, juicefs
from paddle_tools.e2e.cluster import SYSTEM, TOP, Cluster, PermanentFailure, ScenarioFailed, expect
from paddle_tools.e2e.secret_leaks import SecretLeakCheck
from paddle_tools.json_types import Json
from paddle_tools.s3 import S3Client

IMAGES = (*juicefs.IMAGES, "paddle-cache-juicefs")
WITH = ("redis", "s3")
BUCKET = "samples"
REDIS = "10.88.0.1:6379"
API = "batch.paddlepaddle.org/v1alpha1"
MANIFEST = TOP / "deploy/csi/juicefs.yaml"
KUBELET = "/var/lib/kubelet"
SAFE = "paddle-volumes"  # where the driver's Secrets are


# --- before the first set -------------------------------------------------------------------------

def install_driver(cluster: Cluster, kubelet: str = KUBELET) -> None:
    """Installs images and the CSI driver, unless an earlier scenario did. `kubelet`: the root
    directory of kubelets, which the documents' sed changes."""
    cluster.load(*IMAGES)
    if kubelet == KUBELET:
        cluster.kubectl("apply", "-f", MANIFEST)
    else:
        cluster.apply(MANIFEST.read_text().replace(KUBELET, kubelet))
    wait_for_driver(cluster)


def wait_for_driver(cluster: Cluster) -> None:
    cluster.wait("the driver on every node",
                 lambda: juicefs.registered(cluster) == juicefs.nodes(cluster), 120)


def begin(cluster: Cluster, name: str, database: int, prefix: str | None = None, count: int = 60,
          seed: int = 1, largest: int = 200_000, partitions: int = 1,
          wait: bool = True, **spec: Any) -> dict[str, str]:
    """The beginning of most scenarios: driver, samples, Secrets and, with `wait`, a Ready set on
    S3. Returns {path: sha256} of the samples."""
    install_driver(cluster)
    return begin_with_driver(cluster, name, database, prefix, count, seed, largest, partitions,
                             wait, **spec)


def begin_with_driver(cluster: Cluster, name: str, database: int, prefix: str | None = None,
                      count: int = 60, seed: int = 1, largest: int = 200_000, partitions: int = 1,
                      wait: bool = True, **spec: Any) -> dict[str, str]:
    """The same, where the driver is installed already."""
    juicefs.empty_databases(cluster, database)
    wanted = put_samples(cluster, prefix or name, count, largest, seed)
    cluster.apply([source_secret(cluster, "samples-source"),
                   s3_volume(cluster, name, f"e2e-{name}", database)], SYSTEM)
    if wait:
        cluster.apply([sample_set(name, name, prefix or name, partitions, **spec)], SYSTEM)
        wait_ready(cluster, name, partitions=partitions)
    return wanted


def end(cluster: Cluster, name: str) -> None:
    """The end of most scenarios: deletes the set and the user's Secret."""
    delete(cluster, name)
    cluster.kubectl("-n", SYSTEM, "delete", "secret", name)


def secret_leak_check(cluster: Cluster, *more: str) -> SecretLeakCheck:
    """`with secret_leak_check(cluster):` fails when the keys of the S3 server, or `more`, leak."""
    return SecretLeakCheck(cluster, [juicefs.keys(cluster)["AWS_SECRET_ACCESS_KEY"], *more])


def remove_driver(cluster: Cluster) -> None:
    cluster.wait("no mount pod is left", lambda: not cluster.list(
        "pods", None, "app.kubernetes.io/name=juicefs-mount"), 700)
    cluster.kubectl("delete", "-f", MANIFEST, limit=120)


def s3_server(cluster: Cluster) -> S3Client:
    """A connection to the cluster's S3 server."""
    keys = juicefs.keys(cluster)
    return S3Client(*juicefs.s3_address(cluster), keys["AWS_ACCESS_KEY_ID"],
                    keys["AWS_SECRET_ACCESS_KEY"])


def put_samples(cluster: Cluster, prefix: str, count: int = 60, largest: int = 200_000,
                seed: int = 1) -> dict[str, str]:
    """Puts files in nested directories into the bucket; returns {path: sha256}."""
    s3 = s3_server(cluster)
    s3.make_bucket(BUCKET)
    dice = random.Random(seed)
    made = {}
    for number in range(count):
        path = f"val/{number}.jpg"
        if number % 3:
            path = f"train/n{number % 7:04}/deep/img_{number:05}.jpg"
        data = dice.randbytes(dice.randrange(1, largest))
        s3.put(BUCKET, f"{prefix}/{path}", data)
        made[path] = hashlib.sha256(data).hexdigest()
    return made


def put_disk(cluster: Cluster, node: str, place: str, mebibytes: int) -> None:
    """Mounts a file system in memory on one node; it is gone after a reboot."""
    cluster.on(node, "sh", "-c", f"mkdir -p {place} && "
               f"mount -t tmpfs -o size={mebibytes}m tmpfs {place}")


def add_redis_user(cluster: Cluster, name: str, password: str) -> None:
    juicefs.redis(cluster, ("ACL", "SETUSER", name, "on", f">{password}", "~*", "&*", "+@all"))


# --- what users write -----------------------------------------------------------------------------

def secret(name: str, /, **values: str) -> Json:
    """A Secret as users make it with `echo value | base64`: each value ends with a newline."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {
        key.replace("_", "-"): base64.b64encode(f"{value}\n".encode()).decode()
        for key, value in values.items()}}


def redis_volume(name: str, volume: str, database: int, user: str = "", password: str = "") -> Json:
    """The Secret of the tutorial: metadata and data in Redis."""
    login = f"{user}:{password}@" if user else ""
    keys = {"access_key": user, "secret_key": password} if user else {}
    return secret(name, name=volume, storage="redis", bucket=f"redis://{REDIS}/{database + 1}",
                  metaurl=f"redis://{login}{REDIS}/{database}", **keys)


def s3_volume(cluster: Cluster, name: str, volume: str, database: int) -> Json:
    """In a new bucket: JuiceFS accepts no other."""
    volume = f"{volume}-{secrets.token_hex(3)}"
    keys = juicefs.keys(cluster)
    s3_server(cluster).make_bucket(volume)
    return secret(name, name=volume, storage="s3", bucket=f"{keys['S3_ENDPOINT']}/{volume}",
                  metaurl=f"redis://default:{juicefs.METADATA_PASSWORD}@{REDIS}/{database}",
                  access_key=keys["AWS_ACCESS_KEY_ID"],
                  secret_key=keys["AWS_SECRET_ACCESS_KEY"])


def source_secret(cluster: Cluster, name: str) -> Json:
    keys = juicefs.keys(cluster)
    return secret(name, access_key=keys["AWS_ACCESS_KEY_ID"],
                  secret_key=keys["AWS_SECRET_ACCESS_KEY"], region="us-east-1")


def sample_set(name: str, credentials: str, prefix: str, partitions: int = 1,
               source: str = "samples-source", **spec: Any) -> Json:
    server = REDIS.replace("6379", "9000")
    return {"apiVersion": API, "kind": "SampleSet", "metadata": {"name": name}, "spec": {
        "partitions": partitions, "secretRef": {"name": credentials},
        "source": {"uri": f"minio://{server}/{BUCKET}/{prefix}/", "secretRef": {"name": source}},
        **spec}}


def reader(name: str, set_name: str, workers: int = 1, then: str = "true") -> Json:
    """A job whose workers print the checksum of every sample, as `sha256sum` does."""
    pod = jobs.shell_pod("cd /mnt/samples && find . -type f ! -name '.*' | sort | xargs sha256sum "
                         f"&& echo all read && {then}", restartPolicy="Never")
    return jobs.paddle_job(name, {"worker": (workers, pod)}, sampleSetRef={
        "name": set_name, "mountPath": "/mnt/samples"})


# --- the state ------------------------------------------------------------------------------------

def condition(cluster: Cluster, name: str, kind: str, ns: str = SYSTEM) -> Json | None:
    status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
    return next((each for each in status.get("conditions", []) if each["type"] == kind), None)


def wait_ready(cluster: Cluster, name: str, ns: str = SYSTEM, limit: float = 180,
               partitions: int | None = None) -> None:
    def look() -> Any:
        status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
        for each in status.get("conditions", []):
            if each["reason"] == "PreparationFailed":
                raise PermanentFailure(each["message"])
        ready = status.get("runtimeStatus", {}).get("runtimeReady")
        if partitions and ready != f"{partitions}/{partitions}":
            return False
        return status.get("phase") == "Ready"
    try:
        cluster.wait(f"SampleSet {name} Ready", look, limit)
    except ScenarioFailed as failure:
        status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
        raise ScenarioFailed(f"{failure}\n{json.dumps(status, indent=1)}") from failure


def read_all(cluster: Cluster, job: str, wanted: dict[str, str], ns: str = SYSTEM, worker: int = 0,
             limit: float = 120) -> None:
    """Fails unless the job's worker read every sample, with the bytes of the source."""
    pod = f"{job}-worker-{worker}"
    cluster.wait(f"{pod} has read everything", lambda: "all read" in cluster.kubectl(
        "-n", ns, "logs", pod), limit)
    found: dict[str, str] = {}
    for line in cluster.kubectl("-n", ns, "logs", pod).splitlines():
        digest, _, path = line.partition("  ./")
        if path:
            found[path] = digest
    missing = sorted(set(wanted) - set(found))
    other = sorted(path for path in wanted if path in found and found[path] != wanted[path])
    more = sorted(set(found) - set(wanted))
    expect(not (missing or other or more),
           f"{pod} did not read the source's bytes: missing {missing[:3]} of {len(missing)}, "
           f"different {other[:3]} of {len(other)}, unknown {more[:3]} of {len(more)}")


def labelled(cluster: Cluster, name: str) -> dict[str, int]:
    """{node: partition}, from the labels of nodes."""
    found = {}
    for node in cluster.list("nodes", ns=None):
        value = node["metadata"].get("labels", {}).get(f"paddlepaddle.org/juicefs-{name}", "")
        if value.startswith(f"{name}-runtime-"):
            found[node["metadata"]["name"]] = int(value.rpartition("-")[2])
    return found


def clients(cluster: Cluster, name: str, ns: str = SYSTEM) -> list[Json]:
    """The mount pods of a set's volume."""
    volume = cluster.get("sampleset", name, ns)["status"]["volumeName"]
    return juicefs.mount_pods(cluster, volume)


def is_none_left(cluster: Cluster, kind: str, name: str, ns: str) -> bool:
    """Whether no object of a kind that was made for a set is left."""
    return not cluster.list(kind, ns, f"batch.paddlepaddle.org/sampleset={name}")


def gone(cluster: Cluster, name: str, ns: str = SYSTEM, limit: float = 120) -> None:
    """Waits until the set and all objects that were made for it are gone."""
    cluster.wait_gone("sampleset", name, ns, limit)
    for kind in ("pods", "pvc", "statefulsets", "services", "networkpolicies", "secrets"):
        cluster.wait(f"no {kind} of {name} is left",
                     functools.partial(is_none_left, cluster, kind, name, ns), limit)
    cluster.wait("no Secret of the driver is left", lambda: not [
        each for each in cluster.list("secrets", SAFE, f"batch.paddlepaddle.org/sampleset={name}")
        if each["metadata"]["name"].startswith(f"{ns}-{name}-")], limit)
    cluster.wait("its volume is gone", lambda: not [
        each for each in cluster.list("pv", None, f"batch.paddlepaddle.org/sampleset={name}")
        if each["spec"]["claimRef"]["namespace"] == ns], limit)


def delete(cluster: Cluster, name: str, ns: str = SYSTEM, limit: float = 120) -> None:
    cluster.kubectl("-n", ns, "delete", "sampleset", name, "--wait=false")
    gone(cluster, name, ns, limit)
