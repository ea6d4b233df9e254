# SPDX-License-Identifier: Apache-2.0
"""A SampleSet grows from one partition to three, then shrinks to two: nodes and jobs follow."""
from paddle_tools.e2e import jobs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "parted"


def run(cluster):
    with sample_sets.secret_leak_check(cluster):
        with cluster.step("JuiceFS's CSI driver, samples, a Ready set of one partition"):
            wanted = sample_sets.begin(cluster, NAME, 8, count=90, seed=2)
        grows_and_shrinks(cluster, wanted)
        with cluster.step("deleted; nothing is left"):
            sample_sets.end(cluster, NAME)


def grows_and_shrinks(cluster, wanted):
    for partitions in (3, 2):
        with cluster.step(f"{partitions} partitions: as many nodes, each part warm"):
            cluster.kubectl("-n", SYSTEM, "patch", "sampleset", NAME, "--type=merge", "-p",
                            f'{{"spec":{{"partitions":{partitions}}}}}')
            cluster.wait("its runtimes", lambda n=partitions: sorted(
                sample_sets.labelled(cluster, NAME).values()) == list(range(n)), 90)
            cluster.wait("each part warm", lambda n=partitions: all_warm(cluster, n), 90)
            sample_sets.wait_ready(cluster, NAME, partitions=partitions)
        with cluster.step(f"{partitions} workers, each beside its part, read everything"):
            name = f"{NAME}-{partitions}"
            cluster.apply([sample_sets.reader(name, NAME, partitions)], SYSTEM)
            places = sample_sets.labelled(cluster, NAME)
            for worker in range(partitions):
                sample_sets.read_all(cluster, name, wanted, worker=worker)
                pod = jobs.pods(cluster, name)[f"{name}-worker-{worker}"]
                node = pod["spec"]["nodeName"]
                expect(places.get(node) == worker,
                       f"worker {worker} is on {node}, the parts are at {places}")
            jobs.delete(cluster, name)
    with cluster.step("3 partitions again: another warm-up, and each part warm"):
        before = warm_up(cluster)
        cluster.kubectl("-n", SYSTEM, "patch", "sampleset", NAME, "--type=merge", "-p",
                        '{"spec":{"partitions":3}}')
        cluster.wait("each part warm", lambda: all_warm(cluster, 3), 90)
        sample_sets.wait_ready(cluster, NAME, partitions=3)
        cluster.note(f"{before}, then {warm_up(cluster)}")
        expect(warm_up(cluster) not in (before, ""), "it is the previous warm-up")


def warm_up(cluster):
    return cluster.get("sampleset", NAME, SYSTEM)["status"]["jobsName"].get("warmupJobName", "")


def all_warm(cluster, partitions):
    status = cluster.get("sampleset", NAME, SYSTEM)["status"]
    parts = status.get("partitions", [])
    return len(parts) == partitions and all(
        each.get("ready") and each.get("totalBytes", 0) > 0
        and each.get("cachedBytes", 0) >= each["totalBytes"] for each in parts)
