# SPDX-License-Identifier: Apache-2.0
"""SampleSets with JuiceFS as users write them, the samples they bring, and what is seen of them.

Samples are on the cluster's S3 server; a volume's metadata is in the cluster's Redis, its data
there too or on the S3 server. Keys and passwords go into Secrets only.
"""
import base64
import hashlib
import json
import random
import secrets
from urllib.parse import urlsplit

from paddle_tools.e2e import jobs, juicefs
from paddle_tools.e2e.cluster import SYSTEM, TOP, Failed, Never, expect
from paddle_tools.e2e.secret_leaks import Canary
from paddle_tools.s3 import S3

IMAGES = (*juicefs.IMAGES, "paddle-cache-juicefs")
WITH = ("redis", "s3")
BUCKET = "samples"
REDIS = "10.88.0.1:6379"
API = "batch.paddlepaddle.org/v1alpha1"
MANIFEST = TOP / "deploy/csi/juicefs.yaml"


# --- before the first set -------------------------------------------------------------------------

def install_driver(cluster):
    """Images and the CSI driver, unless a scenario before has left them."""
    cluster.load(*IMAGES)
    cluster.kubectl("apply", "-f", MANIFEST)
    cluster.wait("the driver on every node",
                 lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))


def begin(cluster, name, database, prefix=None, count=60, seed=1, largest=200_000, partitions=1,
          wait=True, **spec):
    """How most scenarios begin: driver, samples, Secrets and a Ready set on S3; {path: sha256}."""
    install_driver(cluster)
    juicefs.empty_databases(cluster, database)
    wanted = put_samples(cluster, prefix or name, count, largest, seed)
    cluster.apply([source_secret(cluster, "samples-source"),
                   s3_volume(cluster, name, f"e2e-{name}", database)], SYSTEM)
    if wait:
        cluster.apply([sample_set(name, name, prefix or name, partitions, **spec)], SYSTEM)
        wait_ready(cluster, name, partitions=partitions)
    return wanted


def end(cluster, name):
    """How they end: the set and the user's own Secret."""
    delete(cluster, name)
    cluster.kubectl("-n", SYSTEM, "delete", "secret", name)


def canary(cluster, *more):
    """`with canary(cluster):` the keys of the S3 server, and others, are nowhere to be seen."""
    return Canary(cluster, [juicefs.keys(cluster)["AWS_SECRET_ACCESS_KEY"], *more])


def remove_driver(cluster):
    cluster.wait("no mount pod is left", lambda: not cluster.list(
        "pods", juicefs.SPACE, "app.kubernetes.io/name=juicefs-mount"), 700)
    cluster.kubectl("delete", "-f", MANIFEST, limit=120)


def s3_server(cluster):
    """A connection to the cluster's S3 server."""
    keys = juicefs.keys(cluster)
    server = urlsplit(keys["S3_ENDPOINT_OUTSIDE"])
    return S3(server.hostname, server.port, keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])


def put_samples(cluster, prefix, count=60, largest=200_000, seed=1):
    """{path: sha256} of files that are now in the bucket, in nested directories."""
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


def put_disk(cluster, node, place, mebibytes):
    """A file system in memory that this node has for itself, until it reboots."""
    cluster.on(node, "sh", "-c", f"mkdir -p {place} && "
               f"mount -t tmpfs -o size={mebibytes}m tmpfs {place}")


def add_redis_user(cluster, name, password):
    juicefs.redis(cluster, ("ACL", "SETUSER", name, "on", f">{password}", "~*", "&*", "+@all"))


# --- what users write -----------------------------------------------------------------------------

def secret(name, /, **values):
    """As `echo value | base64` makes it: with a newline at the end of each value."""
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {
        key.replace("_", "-"): base64.b64encode(f"{value}\n".encode()).decode()
        for key, value in values.items()}}


def redis_volume(name, volume, database, user="", password=""):
    """The tutorial's own kind: metadata and data in Redis."""
    login = f"{user}:{password}@" if user else ""
    keys = {"access_key": user, "secret_key": password} if user else {}
    return secret(name, name=volume, storage="redis", bucket=f"redis://{REDIS}/{database + 1}",
                  metaurl=f"redis://{login}{REDIS}/{database}", **keys)


def s3_volume(cluster, name, volume, database):
    """In a bucket that nobody has used before: JuiceFS takes no other."""
    volume = f"{volume}-{secrets.token_hex(3)}"
    keys = juicefs.keys(cluster)
    s3_server(cluster).make_bucket(volume)
    return secret(name, name=volume, storage="s3", bucket=f"{keys['S3_ENDPOINT']}/{volume}",
                  metaurl=f"redis://{REDIS}/{database}", access_key=keys["AWS_ACCESS_KEY_ID"],
                  secret_key=keys["AWS_SECRET_ACCESS_KEY"])


def source_secret(cluster, name):
    keys = juicefs.keys(cluster)
    return secret(name, access_key=keys["AWS_ACCESS_KEY_ID"],
                  secret_key=keys["AWS_SECRET_ACCESS_KEY"], region="us-east-1")


def sample_set(name, credentials, prefix, partitions=1, source="samples-source", **spec):
    server = REDIS.replace("6379", "9000")
    return {"apiVersion": API, "kind": "SampleSet", "metadata": {"name": name}, "spec": {
        "partitions": partitions, "secretRef": {"name": credentials},
        "source": {"uri": f"minio://{server}/{BUCKET}/{prefix}/", "secretRef": {"name": source}},
        **spec}}


def reader(name, set_name, workers=1, then="true"):
    """A job whose workers say the checksum of every sample, as `sha256sum` writes them."""
    pod = jobs.shell_pod("cd /mnt/samples && find . -type f ! -name '.*' | sort | xargs sha256sum "
                         f"&& echo all read && {then}", restartPolicy="Never")
    return jobs.paddle_job(name, {"worker": (workers, pod)}, sampleSetRef={
        "name": set_name, "mountPath": "/mnt/samples"})


# --- what is seen ---------------------------------------------------------------------------------

def condition(cluster, name, kind, ns=SYSTEM):
    status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
    return next((each for each in status.get("conditions", []) if each["type"] == kind), None)


def wait_ready(cluster, name, ns=SYSTEM, limit=180, partitions=None):
    def look():
        status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
        for each in status.get("conditions", []):
            if each["reason"] == "PreparationFailed":
                raise Never(each["message"])
        ready = status.get("runtimeStatus", {}).get("runtimeReady")
        if partitions and ready != f"{partitions}/{partitions}":
            return False
        return status.get("phase") == "Ready"
    try:
        cluster.wait(f"SampleSet {name} Ready", look, limit)
    except Failed as failure:
        status = (cluster.get("sampleset", name, ns) or {}).get("status", {})
        raise Failed(f"{failure}\n{json.dumps(status, indent=1)}") from failure


def read_all(cluster, job, wanted, ns=SYSTEM, worker=0, limit=120):
    """The job's worker read every sample, and the bytes are the source's."""
    pod = f"{job}-worker-{worker}"
    cluster.wait(f"{pod} has read everything", lambda: "all read" in cluster.kubectl(
        "-n", ns, "logs", pod), limit)
    said = {}
    for line in cluster.kubectl("-n", ns, "logs", pod).splitlines():
        digest, _, path = line.partition("  ./")
        if path:
            said[path] = digest
    missing = sorted(set(wanted) - set(said))
    other = sorted(path for path in wanted if path in said and said[path] != wanted[path])
    more = sorted(set(said) - set(wanted))
    expect(not (missing or other or more),
           f"{pod} did not read the source's bytes: missing {missing[:3]} of {len(missing)}, "
           f"different {other[:3]} of {len(other)}, unknown {more[:3]} of {len(more)}")


def labelled(cluster, name):
    """{node: partition} by the contract's label."""
    found = {}
    for node in cluster.list("nodes", ns=None):
        value = node["metadata"].get("labels", {}).get(f"paddlepaddle.org/juicefs-{name}", "")
        if value.startswith(f"{name}-runtime-"):
            found[node["metadata"]["name"]] = int(value.rpartition("-")[2])
    return found


def clients(cluster, name, ns=SYSTEM):
    """Mount pods of a set's volume; those of one before it stay for some minutes."""
    volume = cluster.get("sampleset", name, ns)["status"]["volumeName"]
    return juicefs.mount_pods(cluster, volume)


def gone(cluster, name, ns=SYSTEM, limit=120):
    """The set and everything that was made for it; the user's Secrets stay."""
    cluster.wait_gone("sampleset", name, ns, limit)
    for kind in ("pods", "pvc", "statefulsets", "services", "networkpolicies", "secrets"):
        cluster.wait(f"no {kind} of {name} is left", lambda what=kind: not cluster.list(
            what, ns, f"batch.paddlepaddle.org/sampleset={name}"), limit)
    cluster.wait("its volume is gone", lambda: not [
        each for each in cluster.list("pv", None, f"batch.paddlepaddle.org/sampleset={name}")
        if each["spec"]["claimRef"]["namespace"] == ns], limit)


def delete(cluster, name, ns=SYSTEM, limit=120):
    cluster.kubectl("-n", ns, "delete", "sampleset", name, "--wait=false")
    gone(cluster, name, ns, limit)
