# SPDX-License-Identifier: Apache-2.0
"""The tutorial: from a Secret to a Ready SampleSet to a job that reads the source's very bytes.

With Redis for metadata and data as the tutorial has it, with and without a password, and with S3;
values of Secrets end with a newline, as the tutorial makes them.
"""
import json
import secrets

from paddle_tools.e2e import jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.secret_leaks import SecretLeakCheck

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
PREFIX = "imagenet/demo"


def run(cluster):
    password = "pass/+" + secrets.token_hex(8)
    with cluster.step("JuiceFS's CSI driver, and samples in a bucket"):
        sample_sets.install_driver(cluster)
        wanted = sample_sets.put_samples(cluster, PREFIX)
        juicefs.empty_databases(cluster, 2, 3, 4, 5, 6)
        sample_sets.add_redis_user(cluster, "paddle", password)
    source = sample_sets.source_secret(cluster, "samples-source")
    keys = sample_sets.juicefs.keys(cluster)
    with SecretLeakCheck(cluster,
                         [password, password.replace("/", "%2F"), keys["AWS_SECRET_ACCESS_KEY"]]):
        cluster.apply([source], SYSTEM)
        tutorial(cluster, "imagenet", sample_sets.redis_volume("imagenet", "imagenet", 2), wanted)
        locked = sample_sets.redis_volume("locked", "locked", 4, "paddle", password)
        locked["data"]["metaurl"] = sample_sets.secret(
            "x", metaurl=f"redis://paddle:{password.replace('/', '%2F')}@{sample_sets.REDIS}/4"
        )["data"]["metaurl"]
        tutorial(cluster, "locked", locked, wanted)
        stored = sample_sets.s3_volume(cluster, "stored", "e2e-stored", 6)
        tutorial(cluster, "stored", stored, wanted)


def tutorial(cluster, name, credentials, wanted):
    size = None
    with cluster.step(f"{name}: Secret and SampleSet; Ready"):
        cluster.apply([credentials, sample_sets.sample_set(name, name, PREFIX)], SYSTEM)
        sample_sets.wait_ready(cluster, name)
        cluster.note(cluster.kubectl("-n", SYSTEM, "get", "sampleset", name).splitlines()[1])
    with cluster.step(f"{name}: its figures are those of the source, and all of it is cached"):
        def figures():
            nonlocal size
            size = cluster.get("sampleset", name, SYSTEM)["status"]["cacheStatus"]
            return size.get("totalFiles") == str(len(wanted)) and \
                size.get("cachedSize") == size.get("totalSize")
        cluster.wait("the figures", figures, 60)
        conditions = {each["type"]: each["status"] for each in cluster.get(
            "sampleset", name, SYSTEM)["status"]["conditions"]}
        for kind in ("Bound", "RuntimeReady", "Synced", "Warmed", "Ready"):
            expect(conditions.get(kind) == "True", f"{kind} is not True: {json.dumps(conditions)}")
        expect(len(sample_sets.labelled(cluster, name)) == 1, "not one node has its label")
    with cluster.step(f"{name}: a job beside the data reads every byte of the source"):
        cluster.apply([sample_sets.reader(f"{name}-job", name)], SYSTEM)
        sample_sets.read_all(cluster, f"{name}-job", wanted)
        (node,) = sample_sets.labelled(cluster, name)
        worker = jobs.pods(cluster, f"{name}-job")[f"{name}-job-worker-0"]
        place = worker["spec"]["nodeName"]
        expect(place == node, f"the worker is on {place}, its data on {node}")
        cluster.wait_phase("pdj", f"{name}-job", "Completed", SYSTEM)
        mounts = sample_sets.clients(cluster, name)
        expect(len(mounts) == 1, f"the volume has {len(mounts)} clients, not one")
        jobs.delete(cluster, f"{name}-job")
    with cluster.step(f"{name}: deleted; only the user's own Secret stays"):
        sample_sets.delete(cluster, name)
        expect(not sample_sets.labelled(cluster, name), "a node still has its label")
        expect(cluster.get("secret", name, SYSTEM), "the user's Secret is gone")
        cluster.kubectl("-n", SYSTEM, "delete", "secret", name)
