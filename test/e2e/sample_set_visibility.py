# SPDX-License-Identifier: Apache-2.0
"""What is warmed up is what a trainer reads: its own mount's counters say that reads were local.

A warm-up before the trainer starts, and one while it runs: the node's one client serves both.
"""
from paddle_tools.e2e import runtime_api, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.juicefs import SHELL, pod

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "seen"
READ = "cd /data && find . -type f ! -name '.*' | xargs cat | wc -c"


def run(cluster):
    with sample_sets.secret_leak_check(cluster):
        with cluster.step("JuiceFS's CSI driver, samples, a Ready set"):
            sample_sets.begin(cluster, NAME, 14, count=80, seed=3)
            (node,) = sample_sets.labelled(cluster, NAME)
        is_seen(cluster, node)


def is_seen(cluster, node):
    with cluster.step("warmed up before the trainer: at least 99 % of its reads are local"):
        cluster.apply([trainer("before", node)], SYSTEM)
        cluster.wait_phase("pod", "before", "Running", SYSTEM)
        reads_locally(cluster, "before")
    with cluster.step("cleared under it: its reads are the network's"):
        runtime_api.run_job(cluster, NAME, "e2e-clear-1", {"kind": "clear"})
        share = read(cluster, "before")
        cluster.note(f"{share:.1%} local after a clear")
        expect(share < 0.5, f"{share:.1%} of the reads were local after a clear")
        runtime_api.run_job(cluster, NAME, "e2e-clear-2", {"kind": "clear"})
    with cluster.step("warmed up while it runs: at least 99 % of its reads are local"):
        runtime_api.run_job(cluster, NAME, "e2e-warm-1", {"kind": "warmup"})
        reads_locally(cluster, "before")
    with cluster.step("deleted; nothing is left"):
        cluster.kubectl("-n", SYSTEM, "delete", "pod", "before")
        sample_sets.end(cluster, NAME)


def trainer(name, node):
    made = pod(name, ["sleep", "infinity"], node, volumes=[
        {"name": "data", "persistentVolumeClaim": {"claimName": NAME}}])
    made["spec"]["containers"][0]["image"] = SHELL
    made["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "data", "mountPath": "/data", "mountPropagation": "HostToContainer"}]
    return made


def reads_locally(cluster, name):
    share = read(cluster, name)
    cluster.note(f"{share:.2%} of the bytes were local")
    expect(share >= 0.99, f"only {share:.2%} of the bytes were local")


def read(cluster, name):
    """Everything, past the page cache; the local share by the counters of the trainer's mount."""
    drop = cluster.get("pod", name, SYSTEM)["spec"]["nodeName"]
    cluster.on(drop, "sh", "-c", "echo 3 > /proc/sys/vm/drop_caches")
    before = counters(cluster, name)
    total = int(shell(cluster, name, READ))
    after = counters(cluster, name)
    hits = after["hit"] - before["hit"]
    misses = after["miss"] - before["miss"]
    expect(hits + misses >= 0.9 * total,
           f"{total} bytes were read, the client tells of {hits} local and {misses} others")
    return hits / (hits + misses)


def counters(cluster, name):
    text = shell(cluster, name, "dd if=/data/.stats bs=1048576 count=1 2>/dev/null")
    found = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "juicefs_blockcache_hit_bytes":
            found["hit"] = float(value)
        if key == "juicefs_blockcache_miss_bytes":
            found["miss"] = float(value)
    expect(len(found) == 2, f"the mount's counters are not there: {text[:300]}")
    return found


def shell(cluster, name, script):
    return cluster.kubectl("-n", SYSTEM, "exec", name, "--", "sh", "-c", script)
