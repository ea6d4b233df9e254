# SPDX-License-Identifier: Apache-2.0
"""A SampleSet with a CSI driver that has no mount pods: Ready, and it says what that costs."""
from paddle_tools.e2e import juicefs, runtime_api, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "processes"
FOLDER = TOP / "config/csi/juicefs/by-process"


def run(cluster):
    with cluster.step("the driver without mount pods, in the place of the other"):
        if juicefs.registered(cluster):
            sample_sets.remove_driver(cluster)
            cluster.wait("no kubelet knows the driver", lambda: not juicefs.registered(cluster))
        cluster.load(*IMAGES)
        cluster.kubectl("apply", "-k", FOLDER)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))
    try:
        with sample_sets.secret_leak_check(cluster):
            is_ready(cluster)
    finally:
        cluster.kubectl("delete", "-k", FOLDER, limit=120)
        cluster.wait("no kubelet knows the driver", lambda: not juicefs.registered(cluster))


def is_ready(cluster):
    with cluster.step("a set: Ready, and its conditions say for whom a warm-up is none"):
        juicefs.empty_databases(cluster, 5)
        sample_sets.put_samples(cluster, NAME, 30, seed=31)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, NAME, f"e2e-{NAME}", 5),
                       sample_sets.sample_set(NAME, NAME, NAME, cache={"levels": [
                           {"mediumType": "SSD", "path": f"/var/jfsCache/{NAME}"}]})], SYSTEM)
        sample_sets.wait_ready(cluster, NAME)
        said = sample_sets.condition(cluster, NAME, "Warmed")
        cluster.note(f"{said['reason']}: {said['message']}")
        expect("by-process" in said["message"], "the condition says nothing of that mode")
        expect(not sample_sets.clients(cluster, NAME), "there is a mount pod")
        status, text = runtime_api.call(cluster, NAME, "GET", "/v1/status")
        expect(status == 200 and "by-process" in text, f"nor does its runtime: {status} {text}")
    with cluster.step("deleted; nothing is left"):
        sample_sets.end(cluster, NAME)
        for node in juicefs.nodes(cluster):
            cluster.wait(f"no mount is left on {node}",
                         lambda at=node: not juicefs.mounts(cluster, at))
