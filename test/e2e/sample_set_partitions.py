# SPDX-License-Identifier: Apache-2.0
"""A SampleSet grows from one partition to three, then shrinks to two: nodes and jobs follow."""
import jobs
import sample_sets
from cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "parted"
PREFIX = "parted"


def run(cluster):
    with cluster.step("JuiceFS's CSI driver, samples, a Ready set of one partition"):
        sample_sets.install_driver(cluster)
        sample_sets.empty_databases(cluster, 8)
        wanted = sample_sets.put_samples(cluster, PREFIX, 90, seed=2)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, NAME, "e2e-parted", 8),
                       sample_sets.sample_set(NAME, NAME, PREFIX)], SYSTEM)
        sample_sets.wait_ready(cluster, NAME, partitions=1)
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
    with cluster.step("deleted; nothing is left"):
        sample_sets.delete(cluster, NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME)


def all_warm(cluster, partitions):
    status = cluster.get("sampleset", NAME, SYSTEM)["status"]
    parts = status.get("partitions", [])
    return len(parts) == partitions and all(
        each.get("ready") and each.get("totalBytes", 0) > 0
        and each.get("cachedBytes", 0) >= each["totalBytes"] for each in parts)
