# SPDX-License-Identifier: Apache-2.0
"""Uninstalls while a JuiceFS set serves a job that reads: within two minutes, nothing is left.

Then once more with the manager of sets gone first: what its sets left behind is removed by the one
that is installed again, by their UID, also when a set of the same name lives by then.
"""
import time

from paddle_tools.e2e import installation, jobs, juicefs, leftovers, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect, testbed

MAKES_CLUSTERS = True
IMAGES = sample_sets.IMAGES
NAME = "e2e-uninstall"
SET = "live"
LIMIT = 120
FILES = ("v1/crd.yaml", "v1/operator.yaml", "extensions/controllers.yaml")
VOLUMES = f"batch.paddlepaddle.org/sampleset={SET}"


def run(scenario_run):
    try:
        with scenario_run.step("a cluster"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--with", ",".join(sample_sets.WITH))
        cluster = scenario_run.cluster(NAME)
        installation.install(cluster)
        with cluster.step("JuiceFS's CSI driver"):
            sample_sets.install_driver(cluster)
        wanted = lives(cluster, 1)
        uninstalled(cluster)
        installed_again(cluster)
        manager_first(cluster, lives(cluster, 2) or wanted)
        uninstalled(cluster)
    finally:
        testbed(NAME, "down", limit=600)


def lives(cluster, database):
    """{path: sha256} of the samples."""
    with cluster.step("a Ready set of two partitions, and a job that reads all the time"):
        wanted = sample_sets.begin_with_driver(cluster, SET, database, count=50, partitions=2)
        cluster.apply([reader("reads")], SYSTEM)
        cluster.wait_phase("pdj", "reads", "Running", SYSTEM, 120)
        for worker in range(2):
            sample_sets.read_all(cluster, "reads", wanted, worker=worker)
        return wanted


def reader(name):
    again = "while cat $(find . -type f ! -name '.*') > /dev/null; do sleep 0.2; done"
    return sample_sets.reader(name, SET, 2, then=again)


def uninstalled(cluster):
    with cluster.step("kubectl delete -f crd.yaml -f operator.yaml: nothing is left in 2 minutes"):
        expect(len(sample_sets.labelled(cluster, SET)) == 2, "no node has the set's label")
        start = time.monotonic()
        cluster.kubectl("delete", "-f", TOP / "deploy/v1/crd.yaml",
                        "-f", TOP / "deploy/v1/operator.yaml", limit=LIMIT)
        cluster.note(f"kubectl took {time.monotonic() - start:.1f} s")
        cluster.wait("the namespace is gone", lambda: cluster.get("ns", SYSTEM) is None, LIMIT)
        leftovers.wait_for_none(cluster, LIMIT - (time.monotonic() - start))
        cluster.note(f"nothing was left after {time.monotonic() - start:.1f} s")
    with cluster.step("no pod's mount is left on a node, and the driver will end its mount pods"):
        for node in juicefs.nodes(cluster):
            cluster.wait(f"no pod's mount is left on {node}", lambda at=node: not [
                line for line in juicefs.mounts(cluster, at) if " /var/lib/kubelet/" in line])
        for each in cluster.list("pods", juicefs.SPACE, "app.kubernetes.io/name=juicefs-mount"):
            expect(not juicefs.references(each), f"a mount pod has users: {each['metadata']}")
            cluster.note(f"{each['metadata']['name']} ends at "
                         f"{each['metadata']['annotations'].get('juicefs-delete-at')}")


def installed_again(cluster):
    with cluster.step("installed again"):
        for file in FILES:
            cluster.apply(TOP / "deploy" / file)
        for manager in installation.MANAGERS:
            cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{manager}",
                            "--timeout=90s", limit=120)


def manager_first(cluster, wanted):
    with cluster.step("the managers of sets are gone first, then job and set: volume, labels stay"):
        cluster.kubectl("delete", "-f", TOP / "deploy/extensions/controllers.yaml", limit=90)
        jobs.delete(cluster, "reads")
        old = cluster.get("sampleset", SET, SYSTEM)["metadata"]["uid"]
        cluster.kubectl("-n", SYSTEM, "delete", "sampleset", SET)
        cluster.wait("no runtime is left", lambda: not cluster.list("pods", SYSTEM, VOLUMES), 90)
        (volume,) = cluster.list("pv", None, VOLUMES)
        cluster.note(f"left: {leftovers_of_set(cluster)}")
    with cluster.step("a set of the same name, then the managers: the old volume goes by its UID"):
        cluster.apply([sample_sets.sample_set(SET, SET, SET, 2)], SYSTEM)
        new = cluster.get("sampleset", SET, SYSTEM)["metadata"]["uid"]
        expect(new != old, "it is the old set")
        cluster.apply(TOP / "deploy/extensions/controllers.yaml")
        cluster.wait_gone("pv", volume["metadata"]["name"], limit=120)
        sample_sets.wait_ready(cluster, SET, partitions=2, limit=240)
        cluster.apply([reader("reads")], SYSTEM)
        for worker in range(2):
            sample_sets.read_all(cluster, "reads", wanted, worker=worker)
    with cluster.step("the same without a set of that name: volume and labels of nodes go"):
        cluster.kubectl("delete", "-f", TOP / "deploy/extensions/controllers.yaml", limit=90)
        jobs.delete(cluster, "reads")
        cluster.kubectl("-n", SYSTEM, "delete", "sampleset", SET)
        cluster.wait("no runtime is left", lambda: not cluster.list("pods", SYSTEM, VOLUMES), 90)
        cluster.apply(TOP / "deploy/extensions/controllers.yaml")
        cluster.wait("nothing of the set is left", lambda: not leftovers_of_set(cluster), 120)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", SET, "samples-source")
    lives(cluster, 3)


def leftovers_of_set(cluster):
    volumes = [each["metadata"]["name"] for each in cluster.list("pv", None, VOLUMES)]
    return [*volumes, *(f"label of {node}" for node in sample_sets.labelled(cluster, SET))]
