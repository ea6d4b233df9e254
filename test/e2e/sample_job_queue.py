# SPDX-License-Identifier: Apache-2.0
"""Two hundred SampleJobs at once end in order; and jobs that cannot succeed say why.

A partition that cannot warm up is named; without runtimes nothing succeeds; deadlines, retries,
time to live, schedules whose last run still runs, and jobs whose runtimes get other keys.
"""
import base64
import itertools
import json
import ssl
import time

from paddle_tools.e2e import juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect
from paddle_tools.e2e.sample_jobs import condition, ends, sample_job, status

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "queued"
PREFIX = "queued"
DATABASE = 4
KINDS = {"sync": 30, "warmup": 60, "clear": 60, "rmr": 50}
METRICS = """
import sys, urllib.request
text = urllib.request.urlopen(f"http://{sys.argv[1]}:8080/metrics", timeout=10).read().decode()
print(int(sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
              if line.startswith("paddle_api_requests_total"))))
"""

# In the mount table of the process that has the first word on its command line: there is no program
# in its image that could do it.
UNMOUNT = """
import ctypes, pathlib, sys
libc = ctypes.CDLL(None, use_errno=True)
for each in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        words = (each / "cmdline").read_bytes().split(b"\\0")
    except OSError:
        continue
    if sys.argv[1].encode() in words and b"serve" in words and b"python3" not in words:
        with open(each / "ns/mnt") as table:
            print(libc.setns(table.fileno(), 0) or libc.umount2(sys.argv[2].encode(), 2))
        break
"""


def run(cluster):
    with cluster.step("JuiceFS's CSI driver, samples, a Ready set of two partitions"):
        sample_sets.install_driver(cluster)
        juicefs.empty_databases(cluster, DATABASE)
        sample_sets.put_samples(cluster, PREFIX, 300, largest=30_000, seed=11)
        sample_sets.put_samples(cluster, f"{PREFIX}-more", 30, largest=30_000, seed=12)
        sample_sets.put_samples(cluster, f"{PREFIX}-slow", 12, largest=3_000_000, seed=13)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, NAME, "e2e-queued", DATABASE),
                       sample_sets.sample_set(NAME, NAME, PREFIX, 2)], SYSTEM)
        sample_sets.wait_ready(cluster, NAME, partitions=2)
    try:
        drain(cluster)
        partial(cluster)
        without_runtimes(cluster)
        limits(cluster)
        schedules(cluster)
        renewed(cluster)
    finally:
        cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
    with cluster.step("deleted; nothing is left"):
        sample_sets.delete(cluster, NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME)


# --- two hundred at once --------------------------------------------------------------------------

def source(prefix):
    return sample_sets.sample_set(NAME, NAME, prefix)["spec"]["source"]["uri"]


def queued():
    """In the order in which they are made: kinds take turns."""
    made = []
    for number in range(max(KINDS.values())):
        for kind, count in KINDS.items():
            if number >= count:
                continue
            options = {}
            if kind == "sync":
                options = {"syncOptions": {"source": source(f"{PREFIX}-more"),
                                           "destination": "/more"}}
            if kind == "rmr":
                options = {"rmrOptions": {"paths": [f"/val/{3 * number}.jpg"]}}
            made.append(sample_job(f"q-{kind}-{number:03}", kind, NAME, **options))
    return made


def requests(cluster):
    """That the manager of SampleJobs has sent to the API server since it started."""
    pod = cluster.list("pods", SYSTEM, "control-plane=samplejob-manager")[0]
    return int(cluster.on("host", "python3", "-c", METRICS, pod["status"]["podIP"]))


def drain(cluster):
    wave = queued()
    with cluster.step(f"{len(wave)} jobs at once all succeed"):
        before, start = requests(cluster), time.monotonic()
        cluster.apply(wave, SYSTEM)
        found = sample_jobs.all_end(cluster, [each["metadata"]["name"] for each in wave], 420)
        failed = [name for name, each in found.items() if each["status"]["phase"] != "Succeeded"]
        expect(not failed, f"{len(failed)} failed: "
               f"{json.dumps([found[name]['status']['conditions'] for name in failed[:2]])}")
        spent = requests(cluster) - before
        cluster.note(f"{time.monotonic() - start:.0f} s, {spent} requests to the API server, "
                     f"{spent / len(wave):.1f} for each job")
        expect(spent < 14 * len(wave), f"{spent} requests for {len(wave)} jobs")
    with cluster.step("each kind in the order of its jobs; no kind waited for another"):
        for kind, count in KINDS.items():
            times = [(found[f"q-{kind}-{number:03}"]["metadata"]["creationTimestamp"],
                      found[f"q-{kind}-{number:03}"]["status"]["startTime"])
                     for number in range(count)]
            starts = [began for _, began in sorted(times, key=lambda each: each[0])]
            late = [each for each, after in itertools.pairwise(starts) if each > after]
            # Jobs that were made in one second have no order but that of their names.
            expect(not late, f"{kind} began out of order: {late[:3]}")
        ended = {kind: max(found[f"q-{kind}-{number:03}"]["status"]["completionTime"]
                           for number in range(count)) for kind, count in KINDS.items()}
        cluster.note(", ".join(f"{kind} until {at}" for kind, at in ended.items()))
    cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")


# --- what cannot succeed --------------------------------------------------------------------------

def partial(cluster):
    with cluster.step("a warm-up that one partition cannot do fails, and says which and where"):
        places = {part: node for node, part in sample_sets.labelled(cluster, NAME).items()}
        said = cluster.on(places[1], "python3", "-c", UNMOUNT, f"--set={SYSTEM}/{NAME}",
                          f"/mnt/{NAME}")
        expect(said.split() == ["0"], f"the volume could not be taken away: {said}")
        cluster.apply([sample_job("partial", "warmup", NAME)], SYSTEM)
        found = ends(cluster, "partial", "Failed", 150)
        states = {part["index"]: part["state"] for part in found["partitions"]}
        expect(states == {0: "Succeeded", 1: "Failed"}, f"partitions: {states}")
        said = condition(cluster, "partial", "Failed")["message"]
        expect(said.startswith(f"partition 1 on {places[1]}: "), f"it says: {said}")
        cluster.note(said)
        sample_jobs.kill_on(cluster, places[1], "cmdline", f"--set={SYSTEM}/{NAME}")
        cluster.apply([sample_job("mended", "warmup", NAME, backoffLimit=4)], SYSTEM)
        ends(cluster, "mended")


def without_runtimes(cluster):
    with cluster.step("without a runtime a warm-up waits, and succeeds when there are some"):
        cluster.kubectl("-n", SYSTEM, "scale", "deployment/paddle-sampleset-manager",
                        "--replicas=0")
        cluster.kubectl("-n", SYSTEM, "scale", f"statefulset/{NAME}-runtime", "--replicas=0")
        cluster.wait("no runtime is left", lambda: not cluster.get(
            "pod", f"{NAME}-runtime-0", SYSTEM) and not cluster.get(
                "pod", f"{NAME}-runtime-1", SYSTEM))
        cluster.apply([sample_job("alone", "warmup", NAME)], SYSTEM)
        cluster.wait("it says what it waits for", lambda: condition(
            cluster, "alone").get("reason") == "WaitingForRuntimes")
        time.sleep(12)
        expect(status(cluster, "alone")["phase"] == "Pending", f"{status(cluster, 'alone')}")
        cluster.kubectl("-n", SYSTEM, "scale", f"statefulset/{NAME}-runtime", "--replicas=2")
        cluster.kubectl("-n", SYSTEM, "scale", "deployment/paddle-sampleset-manager",
                        "--replicas=1")
        ends(cluster, "alone")
        sample_sets.wait_ready(cluster, NAME, partitions=2)


def limits(cluster):
    with cluster.step("activeDeadlineSeconds cancels, backoffLimit retries, time to live deletes"):
        nowhere = source("x").replace(f"/{sample_sets.BUCKET}/", "/no-such-bucket/")
        cluster.apply([
            sample_job("late", "sync", NAME, activeDeadlineSeconds=6,
                       syncOptions={"source": source(f"{PREFIX}-slow"), "bwlimit": 1,
                                    "destination": "/late"}),
            sample_job("short", "clear", NAME, ttlSecondsAfterFinished=3)], SYSTEM)
        ends(cluster, "late", "Failed")
        expect(condition(cluster, "late", "Failed")["reason"] == "DeadlineExceeded",
               f"{condition(cluster, 'late', 'Failed')}")
        cluster.apply([sample_job("twice", "sync", NAME, backoffLimit=1,
                                  syncOptions={"source": nowhere})], SYSTEM)
        found = ends(cluster, "twice", "Failed")
        expect(found["failures"] == 2, f"{found['failures']} attempts")
        cluster.note(condition(cluster, "twice", "Failed")["message"])
        cluster.wait_gone("samplejob", "short", SYSTEM)


def schedules(cluster):
    with cluster.step("two minutes of schedules whose runs take longer: Allow, Forbid, Replace"):
        slow = {"schedule": "* * * * *", "syncOptions": {
            "source": source(f"{PREFIX}-slow"), "force-update": True, "bwlimit": 1,
            "destination": "/slow"}}
        cluster.apply([sample_job(policy.lower(), "sync", NAME, concurrencyPolicy=policy, **slow)
                       for policy in ("Allow", "Forbid", "Replace")], SYSTEM)
        cluster.wait("the first runs", lambda: all(runs(cluster, each) for each in (
            "allow", "forbid", "replace")), 80)
        first = {each: runs(cluster, each) for each in ("allow", "forbid", "replace")}
        cluster.wait("the second run of Allow", lambda: len(runs(cluster, "allow")) == 2, 80)
        cluster.wait("Replace has another one", lambda: runs(
            cluster, "replace") not in ([], first["replace"]))
        expect(runs(cluster, "forbid") == first["forbid"], f"Forbid: {runs(cluster, 'forbid')}")
        expect(len(runs(cluster, "replace")) == 1, f"Replace: {runs(cluster, 'replace')}")


def runs(cluster, schedule):
    """Those of its jobs that have not ended."""
    return sorted(each["metadata"]["name"] for each in cluster.list("samplejobs", SYSTEM)
                  if each["metadata"]["name"].startswith(f"{schedule}-")
                  and "deletionTimestamp" not in each["metadata"]
                  and each.get("status", {}).get("phase") not in sample_jobs.ENDED)


# --- another token and certificate ----------------------------------------------------------------

# Prints the certificate of the runtime at an address, without verifying it.
SHOWN = """
import ssl, sys
print(ssl.get_server_certificate((sys.argv[1], 7716), timeout=10))
"""


def renewed(cluster):
    cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
    with cluster.step("the runtimes' Secret is renewed: warm-ups and a schedule's runs succeed"):
        cluster.apply([sample_job("each-minute", "warmup", NAME, schedule="* * * * *")], SYSTEM)
        cluster.wait("a run before", lambda: succeeded(cluster, "each-minute"), 100)
        before = cluster.get("secret", f"{NAME}-runtime", SYSTEM)
        cluster.kubectl("-n", SYSTEM, "annotate", "--overwrite", "secret", f"{NAME}-runtime",
                        "batch.paddlepaddle.org/renew-after=2020-01-01T00:00:00Z")
        take_up(cluster, before)
        go_on(cluster, "after-renewal")
    with cluster.step("it is deleted and made again, with nothing of the one before: they go on"):
        before = cluster.get("secret", f"{NAME}-runtime", SYSTEM)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", f"{NAME}-runtime")
        take_up(cluster, before)
        go_on(cluster, "after-deletion")
        cluster.kubectl("-n", SYSTEM, "delete", "samplejob", "each-minute")
        sample_sets.wait_ready(cluster, NAME, partitions=2)


def take_up(cluster, before):
    """The Secret has another token and authority, and both runtimes show its certificate."""
    def other():
        now = cluster.get("secret", f"{NAME}-runtime", SYSTEM)
        differs = now and all(now["data"].get(key) != before["data"][key]
                              for key in ("token", "ca.crt", "tls.crt"))
        return now if differs else None
    certificate = base64.b64decode(cluster.wait("another Secret", other, 90)["data"]["tls.crt"])
    wanted = ssl.PEM_cert_to_DER_cert(certificate.decode().strip())

    def shown():
        found = []
        for number in range(2):
            pod = cluster.get("pod", f"{NAME}-runtime-{number}", SYSTEM)
            text = cluster.on("host", "python3", "-c", SHOWN, pod["status"]["podIP"])
            found.append(ssl.PEM_cert_to_DER_cert(text.strip()))
        return found == [wanted, wanted]
    cluster.wait("both runtimes show its certificate", shown, 180)  # kubelet takes its time


def go_on(cluster, name):
    """A job that is made now, and a run of the schedule that is, both succeed."""
    known = succeeded(cluster, "each-minute")
    cluster.apply([sample_job(name, "warmup", NAME)], SYSTEM)
    ends(cluster, name)
    cluster.wait("another run of the schedule", lambda: succeeded(
        cluster, "each-minute") not in (None, known), 130)


def succeeded(cluster, schedule):
    """When a run of it did so last."""
    return status(cluster, schedule).get("cronJobStatus", {}).get("lastSuccessfulTime")
