# SPDX-License-Identifier: Apache-2.0
"""Samples on HDFS, Ceph and BOS: SampleSets become Ready, and jobs read the sources' very bytes.

HDFS is Hadoop's own NameNode and DataNode, its files open to one user only, whom the source's
Secret names; Ceph is a monitor, an object store and the RADOS gateway. Neither is installed. BOS
is a small server of ours that speaks what a reader of a bucket needs, over TLS.
"""
import hashlib
import random
import secrets

from paddle_tools.e2e import bos, ceph, hdfs, jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.daemons import HOST, Daemons
from paddle_tools.e2e.secret_leaks import SecretLeakCheck

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
COMPONENTS = (*hdfs.COMPONENTS, *ceph.COMPONENTS)
OWNER = "trainer"
STRANGER = "stranger"


def run(cluster):
    files = samples()
    with cluster.step("JuiceFS's CSI driver"):
        sample_sets.install_driver(cluster)
    with Daemons(cluster, "hdfs") as daemons:
        with cluster.step("HDFS, and samples that only one user may read"):
            hdfs.Hdfs(cluster, daemons).put(files, "/samples", OWNER)
        uri = f"hdfs://{HOST}:{hdfs.PORT}/samples"
        is_refused(cluster, "from-hdfs", 7, uri, {"access_key": STRANGER})
        is_read(cluster, "from-hdfs", 7, uri, {"access_key": OWNER}, files)
    with Daemons(cluster, "bos") as daemons:
        with cluster.step("BOS over TLS, and samples in a bucket"):
            store = bos.Bos(cluster, daemons, {f"imagenet/{path}": data
                                               for path, data in files.items()})
        keys = {"access_key": "bos-key", "secret_key": "bos-canary-" + secrets.token_hex(8)}
        with SecretLeakCheck(cluster, [keys["secret_key"]]):
            is_read(cluster, "from-bos", 7, store.uri("imagenet"), {"ca.crt": store.authority},
                    files)
            expect(set(store.callers()) == {""}, f"without keys came {store.callers()}")
            is_read(cluster, "with-keys", 9, store.uri("imagenet"),
                    {"ca.crt": store.authority, **keys}, files)
            expect("bce-auth-v1/bos-key" in store.callers(), f"with keys came {store.callers()}")
        store.remove()
    with Daemons(cluster, "ceph") as daemons:
        with cluster.step("Ceph's gateway, and samples in a bucket"):
            gateway = ceph.Gateway(cluster, daemons)
            gateway.put("samples", {f"imagenet/{path}": data for path, data in files.items()})
        access, secret = gateway.keys
        keys = {"access_key": access, "secret_key": secret}
        with SecretLeakCheck(cluster, [secret]):
            is_read(cluster, "from-ceph", 9, f"minio://{HOST}:{ceph.PORT}/samples/imagenet/", keys,
                    files)
            is_read(cluster, "as-from-s3", 0, "s3://samples/imagenet",
                    {**keys, "endpoint": f"http://{HOST}:{ceph.PORT}"}, files)


def samples(count=40, largest=200_000):
    """{path: bytes}; one has several of the sources' blocks."""
    dice = random.Random(11)
    made = {f"train/n{number % 5:04}/img_{number:05}.jpg":
            dice.randbytes(dice.randrange(1, largest)) for number in range(count)}
    return {**made, "val/large.bin": dice.randbytes(9_000_000)}


def make(cluster, name, database, uri, keys):
    """Unless it is there; its source's keys are these in any case."""
    source = f"{name}-source"
    objects = [sample_sets.secret(source, **keys)]
    if not cluster.get("sampleset", name, SYSTEM):
        juicefs.empty_databases(cluster, database)
        made = sample_sets.sample_set(name, name, "", source=source)
        made["spec"]["source"]["uri"] = uri
        objects += [made, sample_sets.s3_volume(cluster, name, f"e2e-{name}", database)]
    cluster.apply(objects, SYSTEM)


def is_refused(cluster, name, database, uri, keys):
    with cluster.step(f"{uri}: a user who may not read it is refused with the reason"):
        make(cluster, name, database, uri, keys)
        cluster.wait_phase("sampleset", name, "SyncFailed", SYSTEM, 180)
        said = sample_sets.condition(cluster, name, "Synced")["message"]
        cluster.note(said)
        expect("permission denied" in said and "of its Secret" in said,
               f"it does not say what to do: {said}")


def is_read(cluster, name, database, uri, keys, files):
    wanted = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    source = f"{name}-source"
    with cluster.step(f"{uri}: Ready, with the source's figures"):
        make(cluster, name, database, uri, keys)
        sample_sets.wait_ready(cluster, name, limit=240)
        cluster.wait("the figures", lambda: figures(cluster, name) == str(len(wanted)))
        cluster.note(cluster.kubectl("-n", SYSTEM, "get", "sampleset", name).splitlines()[1])
    with cluster.step(f"{uri}: a job reads every byte of it"):
        cluster.apply([sample_sets.reader(f"{name}-job", name)], SYSTEM)
        sample_sets.read_all(cluster, f"{name}-job", wanted)
        cluster.wait_phase("pdj", f"{name}-job", "Completed", SYSTEM)
        jobs.delete(cluster, f"{name}-job")
    with cluster.step(f"{uri}: deleted; only the user's own Secrets stay"):
        sample_sets.delete(cluster, name)
        for each in (name, source):
            expect(cluster.get("secret", each, SYSTEM), f"the user's Secret {each} is gone")
            cluster.kubectl("-n", SYSTEM, "delete", "secret", each)


def figures(cluster, name):
    return cluster.get("sampleset", name, SYSTEM)["status"]["cacheStatus"].get("totalFiles")
