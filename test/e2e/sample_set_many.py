# SPDX-License-Identifier: Apache-2.0
"""A SampleSet of a hundred thousand small files: it comes, its figures are right, and in time."""
import concurrent.futures
import json
import time

from paddle_tools.e2e import jobs, juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "many"
FILES = 100_000
THREADS = 4
IN_TIME = 30  # seconds within which figures follow


def run(cluster):
    with cluster.step(f"{FILES} files in nested directories"):
        sample_sets.install_driver(cluster)
        juicefs.empty_databases(cluster, 7)
        total = put_many(cluster)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, NAME, "e2e-many", 7)], SYSTEM)
    with cluster.step("a set of two partitions: Ready"):
        cluster.apply([sample_sets.sample_set(NAME, NAME, NAME, 2, csi={
            "driver": "juicefs", "juiceFSMountOptions": {"cache-size": 2048}})], SYSTEM)
        progress = wait_ready(cluster)
        for each in progress:
            cluster.note(each)
        expect(any(" of " in each for each in progress), "no progress was reported")
    with cluster.step("its figures: every file, every byte, and all of them cached"):
        seen = figures(cluster)
        cluster.note(json.dumps(seen))
        expect(seen["totalFiles"] == f"{FILES:,}", f"{seen['totalFiles']} files")
        expect(seen["totalBytes"] == total, f"{seen['totalBytes']} bytes, not {total}")
        expect(seen["cachedBytes"] == total, f"{seen['cachedBytes']} bytes of {total} are cached")
        for each in cluster.list("pods", SYSTEM, f"batch.paddlepaddle.org/sampleset={NAME}"):
            cluster.note(f"{each['metadata']['name']}: {resident(cluster, each)} MiB resident")
    with cluster.step("a worker counts them"):
        pod = jobs.shell_pod("find /mnt/samples -type f ! -name '.*' | wc -l",
                             restartPolicy="Never")
        cluster.apply([jobs.paddle_job("counts", {"worker": (1, pod)}, sampleSetRef={
            "name": NAME, "mountPath": "/mnt/samples"})], SYSTEM)
        cluster.wait_phase("pdj", "counts", "Completed", SYSTEM, limit=240)
        counted = cluster.kubectl("-n", SYSTEM, "logs", "counts-worker-0").strip()
        expect(counted == str(FILES), f"it counted {counted}")
        jobs.delete(cluster, "counts")
    with cluster.step(f"cleared: the figures say so within {IN_TIME} s"):
        cluster.apply([sample_jobs.sample_job("many-clear", "clear", NAME)], SYSTEM)
        sample_jobs.ends(cluster, "many-clear")
        start = time.monotonic()
        cluster.wait("nothing is cached", lambda: not figures(cluster).get("cachedBytes"), IN_TIME)
        cluster.note(f"after {time.monotonic() - start:.1f} s")
    with cluster.step("warmed up again: the figures say so in the same time"):
        cluster.apply([sample_jobs.sample_job("many-warm", "warmup", NAME)], SYSTEM)
        work = sample_jobs.ends(cluster, "many-warm", limit=900)["work"]
        cluster.note(f"done: {json.dumps(work)}")
        start = time.monotonic()
        cluster.wait("all is cached", lambda: figures(cluster).get("cachedBytes") == total, IN_TIME)
        cluster.note(f"after {time.monotonic() - start:.1f} s")
        cluster.kubectl("-n", SYSTEM, "delete", "samplejob", "many-clear", "many-warm")
    with cluster.step("deleted; nothing is left"):
        sample_sets.end(cluster, NAME)


def put_many(cluster):
    """Their bytes altogether; 100 to a directory, three deep."""
    sample_sets.s3_server(cluster).make_bucket(sample_sets.BUCKET)

    def some(first):
        s3, bytes_put = sample_sets.s3_server(cluster), 0
        for number in range(first, FILES, THREADS):
            data = b"%d\n" % number * (1 + number % 97)
            s3.put(sample_sets.BUCKET, f"{NAME}/c{number % 10}/d{number // 10 % 100:02}/"
                   f"{number:06}.txt", data)
            bytes_put += len(data)
        return bytes_put
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(some, range(THREADS)))


def wait_ready(cluster):
    """Waits for Ready; returns the messages of its conditions, a line every half minute."""
    begun, lines = time.monotonic(), []

    def look():
        status = (cluster.get("sampleset", NAME, SYSTEM) or {}).get("status", {})
        if time.monotonic() - begun > 30 * len(lines):
            unmet = [each["message"] for each in status.get("conditions", [])
                     if each["type"] in ("Synced", "Warmed") and each["status"] != "True"]
            lines.append(f"{time.monotonic() - begun:.0f} s {status.get('phase')}: "
                         + "; ".join(unmet))
        return status.get("phase") == "Ready"
    cluster.wait("Ready", look, 1800)
    lines.append(f"Ready after {time.monotonic() - begun:.0f} s")
    return lines


def figures(cluster):
    return cluster.get("sampleset", NAME, SYSTEM)["status"]["cacheStatus"]


def resident(cluster, pod):
    """Of its server, on its node."""
    script = (f"for each in /proc/[0-9]*; do tr '\\0' '\\n' < $each/cmdline 2>/dev/null "
              f"| grep -qxF -e '--set={SYSTEM}/{NAME}' && grep VmRSS $each/status; done; true")
    said = cluster.on(pod["spec"]["nodeName"], "sh", "-c", script).split()
    return int(said[1]) // 1024 if len(said) > 1 else "?"
