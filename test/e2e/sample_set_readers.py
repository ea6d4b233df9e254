# SPDX-License-Identifier: Apache-2.0
"""A set on a tainted node and in two cache directories, its surplus worker, a PS job, and noSync.

One set of two partitions serves all of it: more workers than partitions, the tutorial's job with a
parameter server, and a second set that takes the same volume as it is.
"""
import json

from paddle_tools.e2e import jobs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME, AS_IT_IS = "tiered", "as-it-is"
DATABASE = 10
TAINTED, TAINT = "node3", "e2e-data=only:NoSchedule"
TOLERATION = {"key": "e2e-data", "operator": "Equal", "value": "only", "effect": "NoSchedule"}
HOMES = ("node2", TAINTED)
TIERS = ("/var/cache/e2e-tier-0", "/var/cache/e2e-tier-1")
TIER_MIB = 64
NEAR = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In",
                           "values": list(HOMES)}]}]}}


def run(cluster):
    cluster.kubectl("taint", "node", TAINTED, TAINT, "--overwrite")
    try:
        with sample_sets.secret_leak_check(cluster):
            wanted = tolerates(cluster)
            fills_both_tiers(cluster)
            surplus(cluster, wanted)
            with_a_server(cluster, wanted)
            takes_the_volume_as_it_is(cluster, wanted)
            with cluster.step("deleted; nothing is left"):
                sample_sets.end(cluster, NAME)
    finally:
        cluster.kubectl("taint", "node", TAINTED, f"{TAINT.partition('=')[0]}-")


def tolerates(cluster):
    """{path: sha256} of the samples."""
    with cluster.step("one of its two nodes has a taint: the set waits for it, and says so"):
        for node in HOMES:
            sample_sets.put_disk(cluster, node, TIERS[0], 256)
        wanted = sample_sets.begin(cluster, NAME, DATABASE, count=80, seed=31, wait=False)
        cluster.apply([sample_sets.sample_set(NAME, NAME, NAME, 2, nodeAffinity=NEAR, cache={
            "levels": [{"mediumType": "MEM", "path": TIERS[0], "cacheSize": TIER_MIB},
                       {"mediumType": "SSD", "path": TIERS[1], "cacheSize": TIER_MIB}]})], SYSTEM)
        said = cluster.wait("a condition names the taint", lambda: taint_named(cluster), 120)
        cluster.note(f"{said['reason']}: {said['message']}")
        expect(TAINTED not in sample_sets.labelled(cluster, NAME), "it is on the tainted node")
    with cluster.step("with spec.tolerations it is Ready on both nodes"):
        cluster.kubectl("-n", SYSTEM, "patch", "sampleset", NAME, "--type=merge", "-p",
                        json.dumps({"spec": {"tolerations": [TOLERATION]}}))
        sample_sets.wait_ready(cluster, NAME, partitions=2, limit=240)
        cluster.wait("both nodes have its labels", lambda: sorted(
            sample_sets.labelled(cluster, NAME)) == sorted(HOMES), 60)
    return wanted


def taint_named(cluster):
    for each in (cluster.get("sampleset", NAME, SYSTEM).get("status", {}).get("conditions", [])):
        if "taint" in each.get("message", ""):
            return each
    return None


def fills_both_tiers(cluster):
    with cluster.step("both directories of both nodes hold blocks; a mount pod may take its share"):
        for node in HOMES:
            counts = {place: len(cluster.on(node, "find", place, "-path", "*/raw/chunks/*",
                                            "-type", "f").split()) for place in TIERS}
            cluster.note(f"{node}: blocks {counts}")
            expect(all(counts.values()), f"a directory of {node} is empty: {counts}")
        for mount in sample_sets.clients(cluster, NAME):
            limit = mount["spec"]["containers"][0]["resources"]["limits"]["memory"]
            expect(limit == f"{TIER_MIB + 2048}Mi", f"a mount pod may take {limit}")


def surplus(cluster, wanted):
    name = "surplus"
    with cluster.step("three workers of a set with two partitions: the third is free, all read"):
        cluster.apply([sample_sets.reader(name, NAME, 3)], SYSTEM)
        places = sample_sets.labelled(cluster, NAME)
        for worker in range(3):
            sample_sets.read_all(cluster, name, wanted, worker=worker)
            pod = jobs.pods(cluster, name)[f"{name}-worker-{worker}"]
            node = pod["spec"]["nodeName"]
            if worker < 2:
                expect(places.get(node) == worker,
                       f"worker {worker} is on {node}, the parts are at {places}")
                expect(TOLERATION in pod["spec"]["tolerations"], "it lacks the set's toleration")
            else:
                expect("nodeAffinity" not in pod["spec"].get("affinity", {}),
                       f"the surplus worker is bound: {pod['spec'].get('affinity')}")
                cluster.note(f"the surplus worker read on {node}; the parts are at {places}")
        cluster.wait_phase("pdj", name, "Completed", SYSTEM)
        jobs.delete(cluster, name)


def with_a_server(cluster, wanted):
    """The tutorial's job, but for its image, which pods of the bed cannot fetch."""
    name = "ps-demo"
    with cluster.step("the tutorial's PS job: Running, and its worker sees the samples"):
        pod = jobs.shell_pod("exec sleep 3600")
        cluster.apply([jobs.paddle_job(name, {"worker": (1, pod), "ps": (1, pod)}, sampleSetRef={
            "name": NAME, "mountPath": "/mnt/imagenet"})], SYSTEM)
        cluster.wait_phase("pdj", name, "Running", SYSTEM, 120)
        shown = cluster.kubectl("-n", SYSTEM, "get", "paddlejob", name).splitlines()[1]
        cluster.note(shown)
        expect(shown.split()[:3] == [name, "Running", "PS"], f"kubectl get shows: {shown}")
        found = cluster.kubectl("-n", SYSTEM, "exec", f"{name}-worker-0", "--", "sh", "-c",
                                "cd /mnt/imagenet && find . -type f ! -name '.*'").split()
        expect({each.removeprefix("./") for each in found} == set(wanted),
               f"the worker sees {len(found)} files of {len(wanted)}")
        server = jobs.pods(cluster, name)[f"{name}-ps-0"]["spec"]
        expect(not any("persistentVolumeClaim" in each for each in server["volumes"]),
               "the server mounts the samples, too")
        jobs.delete(cluster, name)


def takes_the_volume_as_it_is(cluster, wanted):
    with cluster.step("noSync: a second set takes the volume as it is; Ready, nothing is copied"):
        spec = {"partitions": 1, "noSync": True, "secretRef": {"name": NAME}}
        cluster.apply([{"apiVersion": sample_sets.API, "kind": "SampleSet",
                        "metadata": {"name": AS_IT_IS}, "spec": spec}], SYSTEM)
        sample_sets.wait_ready(cluster, AS_IT_IS)
        said = sample_sets.condition(cluster, AS_IT_IS, "Synced")
        expect(said["status"] == "True" and said["reason"] == "NotNeeded", json.dumps(said))
        status = cluster.get("sampleset", AS_IT_IS, SYSTEM)["status"]
        expect(not status.get("jobsName", {}).get("syncJobName"), "it had a sync")
        cluster.wait("the figures", lambda: figures(cluster) == str(len(wanted)))
    with cluster.step("noSync: a job reads every byte, also after the set is deleted"):
        cluster.apply([sample_sets.reader("reads-as-it-is", AS_IT_IS)], SYSTEM)
        sample_sets.read_all(cluster, "reads-as-it-is", wanted)
        jobs.delete(cluster, "reads-as-it-is")
        sample_sets.delete(cluster, AS_IT_IS)
        cluster.apply([sample_sets.reader("reads-again", NAME)], SYSTEM)
        sample_sets.read_all(cluster, "reads-again", wanted)
        jobs.delete(cluster, "reads-again")


def figures(cluster):
    return cluster.get("sampleset", AS_IT_IS, SYSTEM)["status"]["cacheStatus"].get("totalFiles")
