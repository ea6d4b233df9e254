# SPDX-License-Identifier: Apache-2.0
"""Kubelets with another root directory: the driver by the documents' sed, a set, a job that reads.
"""
from paddle_tools.e2e import installation, jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect, testbed

MAKES_CLUSTERS = True
IMAGES = sample_sets.IMAGES
NAME = "e2e-kubelet-dir"
KUBELET = "/var/data/kubelet"
SET = "elsewhere"


def run(scenario_run):
    try:
        with scenario_run.step(f"a cluster whose kubelets keep their files in {KUBELET}"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--with", ",".join(sample_sets.WITH), "--kubelet-dir", KUBELET)
        cluster = scenario_run.cluster(NAME)
        installation.install(cluster)
        with cluster.step("deploy/csi/juicefs.yaml with that directory: every kubelet knows it"):
            sample_sets.install_driver(cluster, KUBELET)
        reads(cluster)
    finally:
        testbed(NAME, "down", limit=600)


def reads(cluster):
    with cluster.step("a set of two partitions is Ready"):
        wanted = sample_sets.begin_with_driver(cluster, SET, 1, count=40, partitions=2)
    with cluster.step("two workers beside it read every byte, through mounts of that directory"):
        cluster.apply([sample_sets.reader("reads", SET, 2, then="sleep 600")], SYSTEM)
        for worker in range(2):
            sample_sets.read_all(cluster, "reads", wanted, worker=worker)
        for node in sample_sets.labelled(cluster, SET):
            found = [line.split()[1] for line in juicefs.mounts(cluster, node)]
            expect(any(each.startswith(f"{KUBELET}/pods/") for each in found),
                   f"{node} has no pod's mount beneath {KUBELET}: {found}")
            expect(not any("/var/lib/kubelet" in each for each in found),
                   f"{node} has mounts where kubelet is not: {found}")
        jobs.delete(cluster, "reads")
    with cluster.step("deleted; no pod's mount is left"):
        sample_sets.end(cluster, SET)
        for node in juicefs.nodes(cluster):
            cluster.wait(f"no pod's mount is left on {node}", lambda at=node: not [
                line for line in juicefs.mounts(cluster, at) if f" {KUBELET}/" in line])
