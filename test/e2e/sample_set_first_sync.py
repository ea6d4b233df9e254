# SPDX-License-Identifier: Apache-2.0
"""The first sync of a SampleSet is its runtimes' together, whatever happens to them in the middle.

Counted at the S3 server: what is fetched twice is less than one file in twenty.
"""
import json

from paddle_tools.e2e import jobs, juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.access_log import AccessLog
from paddle_tools.e2e.cluster import SYSTEM, PermanentFailure, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
PREFIX = "first"
FILES = 2400
LARGEST = 50_000
DATABASE = 9


def run(cluster):
    with cluster.step("JuiceFS's CSI driver, and samples"):
        sample_sets.install_driver(cluster)
        wanted = sample_sets.put_samples(cluster, PREFIX, FILES, LARGEST, seed=21)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source")], SYSTEM)
    runtimes_are_killed(cluster, wanted)
    partitions_change(cluster, "shrinks", (3, 2), wanted)
    partitions_change(cluster, "grows", (1, 3, 2), wanted)


def begin(cluster, name, partitions):
    """The set is applied; the log of what is fetched from now on."""
    juicefs.empty_databases(cluster, DATABASE)
    log = AccessLog(cluster)
    cluster.apply([sample_sets.s3_volume(cluster, name, f"e2e-{name}", DATABASE),
                   sample_sets.sample_set(name, name, PREFIX, partitions)], SYSTEM)
    return log


def in_the_middle(cluster, name, partition):
    """The set's status when that part has copied a tenth of what it has to."""
    def look():
        found = cluster.get("sampleset", name, SYSTEM).get("status", {})
        part = next((each for each in found.get("sync", {}).get("parts", [])
                     if each["index"] == partition), {})
        work = part.get("work", {})
        done, total = work.get("bytesDone", 0), work.get("bytesTotal", 0)
        if part.get("state") == "Succeeded":
            raise PermanentFailure(f"part {partition} ended too early to be seen")
        return total and done * 10 >= total and found
    return cluster.wait(f"part {partition} of {name} is copied", look, 120)


def counted(cluster, name, log, share=0.05):
    gets = log.gets(sample_sets.BUCKET, PREFIX)
    expect(len(gets) == FILES, f"{len(gets)} of {FILES} files were fetched")
    twice = sum(gets.values()) - FILES
    cluster.note(f"{name}: {twice} of {FILES} files twice ({100 * twice / FILES:.1f} %)")
    expect(twice <= share * FILES, f"fetched twice: {twice} of {FILES}")


def check(cluster, name, partitions, wanted):
    """Every sample is there, and it counts as one sync."""
    status = cluster.get("sampleset", name, SYSTEM)["status"]
    expect("sync" not in status, f"parts are left: {json.dumps(status.get('sync'))}")
    expect(status["index"]["generation"] == 1, f"it counts as {status['index']}")
    cluster.apply([sample_sets.reader(f"reads-{name}", name)], SYSTEM)
    sample_sets.read_all(cluster, f"reads-{name}", wanted, limit=240)
    jobs.delete(cluster, f"reads-{name}")
    sample_sets.wait_ready(cluster, name, partitions=partitions)


def runtimes_are_killed(cluster, wanted):
    name = "firstly"
    with cluster.step("three runtimes share it; one of them is killed with -9 in the middle"):
        log = begin(cluster, name, 3)
        found = in_the_middle(cluster, name, 1)
        expect(len(found["sync"]["parts"]) == 3, f"parts: {json.dumps(found['sync'])}")
        said = next(each for each in found["conditions"] if each["type"] == "Synced")
        expect(said["status"] == "Unknown" and said["reason"] == "Syncing", f"it says {said}")
        cluster.note(said["message"])
        node = cluster.get("pod", f"{name}-runtime-1", SYSTEM)["spec"]["nodeName"]
        expect(sample_jobs.kill_on(cluster, node, "cmdline", f"--set={SYSTEM}/{name}"),
               "no process was killed")
        cluster.wait("Synced", lambda: sample_sets.condition(
            cluster, name, "Synced")["status"] == "True", 240)
        sample_sets.wait_ready(cluster, name, partitions=3, limit=240)
        counted(cluster, name, log)
        check(cluster, name, 3, wanted)
    with cluster.step("deleted; nothing is left"):
        sample_sets.end(cluster, name)


def partitions_change(cluster, name, numbers, wanted):
    words = " -> ".join(map(str, numbers))
    with cluster.step(f"partitions change in the middle, {words}: it ends right"):
        log = begin(cluster, name, numbers[0])
        if numbers[0] > 1:
            in_the_middle(cluster, name, 1)
        else:
            cluster.wait("it syncs", lambda: cluster.get("sampleset", name, SYSTEM).get(
                "status", {}).get("phase") == "Syncing", 180)
        for number in numbers[1:]:
            phase = cluster.get("sampleset", name, SYSTEM)["status"]["phase"]
            cluster.note(f"{number} partitions while it is {phase}")
            cluster.kubectl("-n", SYSTEM, "patch", "sampleset", name, "--type=merge", "-p",
                            f'{{"spec":{{"partitions":{number}}}}}')
        sample_sets.wait_ready(cluster, name, partitions=numbers[-1], limit=300)
        counted(cluster, name, log)
        check(cluster, name, numbers[-1], wanted)
    with cluster.step("deleted; nothing is left"):
        sample_sets.end(cluster, name)
