# SPDX-License-Identifier: Apache-2.0
"""A node goes away in the middle of a sync that runtimes share: its part is done all the same.

With a node to spare the runtime moves there and goes on with its part; without one the others
divide what is left. Counted at the S3 server: little is fetched twice.
"""
import json
import time

from paddle_tools.e2e import juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.access_log import AccessLog
from paddle_tools.e2e.cluster import SYSTEM, PermanentFailure, expect
from paddle_tools.e2e.sample_jobs import sample_job

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "moving"
MORE = "moving-more"
FILES = 240
THREADS = 2
DATABASE = 9


def run(cluster):
    with cluster.step("JuiceFS's CSI driver, samples, a Ready set of three partitions"):
        sample_sets.begin(cluster, NAME, DATABASE, count=30, seed=31, partitions=3)
        sample_sets.put_samples(cluster, MORE, FILES, largest=500_000, seed=32)
    with cluster.step("three partitions, no node to spare: the others copy what the lost one had"):
        without_a_node(cluster, "others", megabits=24)
    with cluster.step("two partitions: the runtime moves, and its part with it"):
        cluster.kubectl("-n", SYSTEM, "patch", "sampleset", NAME, "--type=merge", "-p",
                        '{"spec":{"partitions":2}}')
        sample_sets.wait_ready(cluster, NAME, partitions=2)
        without_a_node(cluster, "moves", megabits=5)
    with cluster.step("deleted; nothing is left"):
        cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
        sample_sets.end(cluster, NAME)


def node_to_lose(cluster):
    """One that holds a part but not the first, and that part; operators are sent away from it."""
    node, part = max(sample_sets.labelled(cluster, NAME).items(), key=lambda each: each[1])
    cluster.kubectl("cordon", node)
    for pod in cluster.list("pods", SYSTEM):
        if "control-plane" in pod["metadata"].get("labels", {}) and pod["spec"].get(
                "nodeName") == node:
            cluster.kubectl("-n", SYSTEM, "delete", "pod", pod["metadata"]["name"])
    cluster.wait("the operators are ready", lambda: all(
        each["status"].get("readyReplicas") for each in cluster.list("deployments", SYSTEM)), 90)
    cluster.kubectl("uncordon", node)
    return node, part


def without_a_node(cluster, name, megabits):
    node, part = node_to_lose(cluster)
    log = AccessLog(cluster)
    uri = sample_sets.sample_set(NAME, NAME, MORE)["spec"]["source"]["uri"]
    cluster.apply([sample_job(name, "sync", NAME, syncOptions={
        "source": uri, "destination": f"/{name}", "bwlimit": megabits, "threads": THREADS})],
                  SYSTEM)
    cluster.wait("its part is copied", lambda: copied(cluster, name, part), 120)
    start = time.monotonic()
    cluster.testbed("node-kill", node.removeprefix("node"))
    try:
        found = sample_jobs.ends(cluster, name, limit=400)
    finally:
        cluster.testbed("node-start", node.removeprefix("node"))
    cluster.note(f"{node} with part {part} lost; the job ended {time.monotonic() - start:.0f} s "
                 f"later as {found['jobName']}: "
                 + ", ".join(f"{each['index']} on {each['node']}" for each in found["partitions"]))
    expect(len({each["cut"] for each in found["partitions"]}) == 1, f"{json.dumps(found)}")
    expect(node not in {each["node"] for each in found["partitions"]}, "its node did the rest")
    gets = log.gets(sample_sets.BUCKET, MORE)
    twice = sum(gets.values()) - FILES
    cluster.note(f"{twice} of {FILES} files fetched twice")
    expect(len(gets) == FILES, f"{len(gets)} of {FILES} files were fetched")
    expect(twice <= 0.05 * FILES + THREADS, f"fetched twice: {twice} of {FILES}")
    cluster.wait("all nodes know the driver", lambda: juicefs.registered(
        cluster) == juicefs.nodes(cluster), 180)
    sample_sets.wait_ready(cluster, NAME, limit=240)


def copied(cluster, name, index):
    """A fifth of that part is there, and not more than two thirds."""
    for each in sample_jobs.status(cluster, name).get("partitions", []):
        work = each.get("work", {})
        if each["index"] == index and work.get("bytesTotal"):
            share = work.get("bytesDone", 0) / work["bytesTotal"]
            if share > 0.67:
                raise PermanentFailure(f"part {index} is at {share:.2f} already")
            return share >= 0.2
    return False
