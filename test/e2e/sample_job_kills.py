# SPDX-License-Identifier: Apache-2.0
"""Fifty SampleJobs while the operator and each runtime are killed with -9: each is done, and once.

Counted at the S3 server: what a killed sync fetches twice is less than one byte in twenty.
"""
import json
import secrets
import time

from paddle_tools.e2e import jobs, juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.access_log import AccessLog
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.sample_jobs import sample_job

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "killed"
PREFIX = "killed"
DATABASE = 6
FILES = 90
COPIES = 14      # syncs to directories of their own
REMOVED = 8      # of these, removed again


def run(cluster):
    seed = secrets.randbelow(1_000_000)
    with cluster.step("JuiceFS's CSI driver, samples, a Ready set of three partitions"):
        sample_sets.install_driver(cluster)
        juicefs.empty_databases(cluster, DATABASE)
        log = AccessLog(cluster)
        wanted = sample_sets.put_samples(cluster, PREFIX, FILES, largest=150_000, seed=seed)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, NAME, "e2e-killed", DATABASE),
                       sample_sets.sample_set(NAME, NAME, PREFIX, 3)], SYSTEM)
        sample_sets.wait_ready(cluster, NAME, partitions=3)
        expect(sum(log.gets(sample_sets.BUCKET, PREFIX).values()) == FILES,
               "the first sync did not fetch every file once")
    cluster.note(f"seed {seed}")
    start, killed = time.monotonic(), []
    with cluster.step(f"{COPIES} syncs, and warm-ups and clears among them"):
        with sample_jobs.ProcessKiller(cluster, NAME, seed, most=10) as killer:
            first = [sample_job(f"sync-{i}", "sync", NAME, syncOptions={
                "destination": f"/copy-{i}", "threads": 2, "bwlimit": 24}) for i in range(COPIES)]
            first += [sample_job(f"warm-{i}", "warmup", NAME) for i in range(9)]
            first += [sample_job(f"clear-{i}", "clear", NAME) for i in range(6)]
            done(cluster, first)
        killed += killer.killed
    with cluster.step(f"{REMOVED} removals, and again warm-ups and clears"):
        with sample_jobs.ProcessKiller(cluster, NAME, seed + 1, most=4) as killer:
            second = [sample_job(f"rmr-{i}", "rmr", NAME, rmrOptions={
                "paths": [f"/copy-{i}"], "skip-trash": True}) for i in range(REMOVED)]
            second += [sample_job(f"warm-b{i}", "warmup", NAME) for i in range(7)]
            second += [sample_job(f"clear-b{i}", "clear", NAME) for i in range(6)]
            done(cluster, second)
        killed += killer.killed
    expect(len(first) + len(second) == 50, "fifty jobs are what is promised")
    cluster.note(f"50 jobs in {time.monotonic() - start:.0f} s; killed: "
                 + ", ".join(f"{who} at {at} s" for who, at in killed))
    expect({who for who, _ in killed} == {"operator", 0, 1, 2}, "a process was never killed")
    with cluster.step("every file was fetched once for each sync, or very nearly"):
        counted(cluster, log)
    with cluster.step("a worker reads all that was synced, and nothing that was removed"):
        left = {**wanted, **{f"copy-{i}/{path}": digest for i in range(REMOVED, COPIES)
                             for path, digest in wanted.items()}}
        sample_sets.wait_ready(cluster, NAME, partitions=3)
        cluster.apply([sample_sets.reader("after-kills", NAME)], SYSTEM)
        sample_sets.read_all(cluster, "after-kills", left, limit=180)
        jobs.delete(cluster, "after-kills")
    cancelled(cluster, log)
    with cluster.step("deleted; nothing is left"):
        sample_sets.delete(cluster, NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME)


def cancelled(cluster, log):
    """With what it costs at the S3 server: a job that came back would go on fetching."""
    with cluster.step("a sync is cancelled while all processes are killed: it stays cancelled"):
        cluster.apply([sample_job("stopped", "sync", NAME, syncOptions={
            "destination": "/stopped", "threads": 1, "bwlimit": 1})], SYSTEM)
        cluster.wait("it runs", lambda: sample_jobs.status(cluster, "stopped").get("phase")
                     == "Running", 90)
        cluster.apply([sample_job("stops", "clear", NAME, terminate=True)], SYSTEM)
        sample_jobs.kill_operator(cluster)
        for partition in range(3):
            sample_jobs.kill_runtime(cluster, NAME, partition)
        found = sample_jobs.ends(cluster, "stopped", "Failed", 180)
        cluster.note(json.dumps(sample_jobs.condition(cluster, "stopped")))
        expect("stops" in json.dumps(found["conditions"]), "it does not say who cancelled it")
        sample_jobs.ends(cluster, "stops", limit=180)
        sample_sets.wait_ready(cluster, NAME, partitions=3)
        before = sum(log.gets(sample_sets.BUCKET, PREFIX).values())
        time.sleep(20)  # longer than any earlier retry
        after = sum(log.gets(sample_sets.BUCKET, PREFIX).values())
        expect(after == before, f"{after - before} files were fetched after its end")
        expect(sample_jobs.status(cluster, "stopped")["phase"] == "Failed", "it came back")


def done(cluster, wave):
    cluster.apply(wave, SYSTEM)
    found = sample_jobs.all_end(cluster, [each["metadata"]["name"] for each in wave], 300)
    failed = {name: each["status"]["conditions"] for name, each in found.items()
              if each["status"]["phase"] != "Succeeded"}
    expect(not failed, f"{len(failed)} jobs failed: {failed}")
    for name, each in found.items():
        parts = each["status"]["partitions"]
        expect(all(part["state"] == "Succeeded" for part in parts), f"{name}: {parts}")
        if each["spec"]["type"] == "sync":
            expect(len({part.get("cut") for part in parts}) == 1, f"{name} is of two divisions")
            expect(each["status"]["work"]["filesDone"] == FILES,
                   f"{name}: {each['status']['work']}")


def counted(cluster, log):
    gets = log.gets(sample_sets.BUCKET, PREFIX)
    expect(len(gets) == FILES, f"{len(gets)} of {FILES} files were fetched")
    least, most, all_of_them = min(gets.values()), max(gets.values()), sum(gets.values())
    should = FILES * (COPIES + 1)
    cluster.note(f"{all_of_them} fetches for {should} files: {all_of_them - should} twice "
                 f"({100 * (all_of_them - should) / should:.1f} %); a file {least} to {most} times")
    expect(least >= COPIES + 1, f"a file was fetched {least} times for {COPIES + 1} syncs")
    expect(all_of_them <= should * 1.05, f"fetched twice: {all_of_them - should} of {should}")
