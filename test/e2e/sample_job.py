# SPDX-License-Identifier: Apache-2.0
"""The tutorial's SampleJobs: remove, sync, clear and warm up, with the table it shows in between.

Then on a schedule, deleted while it runs, and waiting for what is not there yet.
"""
import json
import time

from paddle_tools.e2e import jobs, juicefs, runtime_api, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "managed"
PREFIX = "managed"
DISK = "/var/cache/job-disk"  # of each node alone: others write to the machine's disk meanwhile
KIB = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def sample_job(name, kind, **spec):
    return {"apiVersion": sample_sets.API, "kind": "SampleJob", "metadata": {"name": name},
            "spec": {"type": kind, "sampleSetRef": {"name": NAME}, **spec}}


def run(cluster):
    with cluster.step("JuiceFS's CSI driver, samples in a bucket"):
        sample_sets.install_driver(cluster)
        wanted = sample_sets.put_samples(cluster, PREFIX, 60, largest=600_000, seed=5)
        for node in juicefs.nodes(cluster):
            sample_sets.put_disk(cluster, node, DISK, 256)
    waits(cluster)
    tutorial(cluster, wanted)
    schedule(cluster)
    cancelled(cluster)
    with cluster.step("the set is deleted; jobs stay and say what they wait for"):
        sample_sets.delete(cluster, NAME)
        cluster.kubectl("-n", SYSTEM, "delete", "samplejobs", "--all")
        cluster.kubectl("-n", SYSTEM, "delete", "secret", NAME, "other-source")


def waits(cluster):
    with cluster.step("a job waits for its SampleSet, and begins by itself when that is Ready"):
        cluster.apply([sample_job("early", "warmup")], SYSTEM)
        cluster.wait("it says what it waits for",
                     lambda: reason(cluster, "early") == "ErrorSampleSetNotExist")
        juicefs.empty_databases(cluster, 10, 11)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.redis_volume(NAME, NAME, 10),
                       sample_sets.sample_set(NAME, NAME, PREFIX, 2, cache={"levels": [
                           {"mediumType": "SSD", "path": f"{DISK}/{NAME}",
                            "cacheSize": 200}]})], SYSTEM)
        sample_sets.wait_ready(cluster, NAME, partitions=2)
        succeeds(cluster, "early")


def tutorial(cluster, wanted):
    total = bytes_of(cluster, "totalBytes")
    rows = {"Ready": row(cluster)}
    with cluster.step("rmr: the files are gone from the set, not from the source"):
        cluster.apply([sample_job("rmr", "rmr", rmrOptions={"paths": ["/train"]})], SYSTEM)
        succeeds(cluster, "rmr")
        left = [path for path in wanted if not path.startswith("train/")]
        figures(cluster, files=len(left))
        rows["rmr"] = row(cluster)
        listed(cluster, "after-rmr", ["val"])
    with cluster.step("sync: they are back, and warmed up by themselves"):
        cluster.apply([sample_sets.source_secret(cluster, "other-source"), sample_job(
            "sync", "sync", secretRef={"name": "other-source"}, syncOptions={
                "source": sample_sets.sample_set(NAME, NAME, PREFIX)["spec"]["source"]["uri"]})],
                      SYSTEM)
        succeeds(cluster, "sync")
        figures(cluster, files=len(wanted), total=total, cached=total)
        rows["sync"] = row(cluster)
        listed(cluster, "after-sync", ["train", "val"])
    with cluster.step("clear: nothing is cached, and stays so"):
        before = avail(cluster)
        cluster.apply([sample_job("clear", "clear")], SYSTEM)
        succeeds(cluster, "clear")
        figures(cluster, total=total, cached=0)
        time.sleep(8)
        figures(cluster, total=total, cached=0)
        rows["clear"] = row(cluster)
        cluster.wait("the space that its bytes took is free again",
                     lambda: abs(avail(cluster) - before - total) <= 3 << 20)
    starts_after_a_clear(cluster)
    waits_for_a_warm_up(cluster)
    with cluster.step("warmup: all of it is cached"):
        cluster.apply([sample_job("warmup", "warmup", warmupOptions={
            "strategyName": "random", "batchSize": 8, "threads": 1})], SYSTEM)
        succeeds(cluster, "warmup")
        figures(cluster, total=total, cached=total)
        rows["warmup"] = row(cluster)
    starts_beside_its_part(cluster)
    with cluster.step("the tutorial's table"):
        for after, shown in rows.items():
            cluster.note(f"{after:8} {shown}")
            expect(" Ready " in shown, f"after {after} the set is not Ready: {shown}")
        expect(" 0 B " in rows["clear"], f"something is cached after clear: {rows['clear']}")
        shown = cluster.kubectl("-n", SYSTEM, "get", "samplejob", "warmup").splitlines()
        expect(shown[0].split() == ["NAME", "PHASE", "TYPE", "PROGRESS", "DURATION",
                                      "AGE"], shown[0])
        cluster.note(shown[1])


def starts_after_a_clear(cluster):
    with cluster.step("a job with a data gate does not wait for what nothing brings back"):
        cluster.apply([gated_job("cleared")], SYSTEM)
        cluster.wait_phase("pdj", "cleared", "Completed", SYSTEM)
        said = jobs.condition(cluster, "cleared", "DataWarm")
        expect(said and said["status"] == "False" and said["reason"] == "CacheCleared",
               f"it does not say that its samples were cleared: {said}")
        cluster.note(said["message"])
        jobs.delete(cluster, "cleared")


def waits_for_a_warm_up(cluster):
    with cluster.step("where users warm up themselves it holds no node while nothing is warm"):
        warms_up_by_itself(cluster, False)
        cluster.apply([gated_job("gated")], SYSTEM)
        cluster.wait("two gated pods", lambda: len(gated(cluster)) == 2)
        said = cluster.wait("a reason", lambda: jobs.condition(cluster, "gated", "Ready"))
        cluster.note(said["message"])
        expect("SampleJob of type warmup" in said["message"], f"it does not say what to do: {said}")
        time.sleep(5)
        expect(len(gated(cluster)) == 2, "a pod started though nothing is warm")


def starts_beside_its_part(cluster):
    with cluster.step("the gate is lifted, and each worker starts beside its part"):
        cluster.wait_phase("pdj", "gated", "Completed", SYSTEM)
        places = sample_sets.labelled(cluster, NAME)
        for worker in (0, 1):
            node = jobs.pods(cluster, "gated")[f"gated-worker-{worker}"]["spec"]["nodeName"]
            expect(places.get(node) == worker, f"worker {worker} is on {node}, parts at {places}")
        jobs.delete(cluster, "gated")
        warms_up_by_itself(cluster, True)


def gated_job(name):
    pod = jobs.shell_pod("ls /mnt/samples", restartPolicy="Never")
    return jobs.paddle_job(name, {"worker": (2, pod)}, sampleSetRef={
        "name": NAME, "mountPath": "/mnt/samples", "gate": {"warmPercent": 95}})


def warms_up_by_itself(cluster, enabled):
    cluster.kubectl("-n", SYSTEM, "patch", "sampleset", NAME, "--type=merge", "-p",
                    json.dumps({"spec": {"warmup": {"enabled": enabled}}}))


def schedule(cluster):
    with cluster.step("a schedule makes a run each minute; suspended it makes none"):
        cluster.apply([sample_job("nightly", "warmup", schedule="* * * * *",
                                  concurrencyPolicy="Forbid", timeZone="Asia/Shanghai")], SYSTEM)
        cluster.wait("its next time", lambda: cron(cluster).get("nextScheduleTime"))
        cluster.wait("a run has succeeded", lambda: cron(cluster).get("lastSuccessfulTime"), 100)
        owned = [each["metadata"]["name"] for each in cluster.list("samplejobs", SYSTEM)
                 if each["metadata"].get("ownerReferences")]
        expect(owned and all(each.startswith("nightly-") for each in owned), f"runs: {owned}")
        cluster.kubectl("-n", SYSTEM, "patch", "samplejob", "nightly", "--type=merge", "-p",
                        '{"spec":{"suspend":true}}')
        cluster.wait("it is suspended", lambda: not cron(cluster).get("nextScheduleTime"))
        cluster.kubectl("-n", SYSTEM, "delete", "samplejob", "nightly")
        cluster.wait("its runs go with it", lambda: not [
            each for each in cluster.list("samplejobs", SYSTEM)
            if each["metadata"]["name"].startswith("nightly-")])


def cancelled(cluster):
    with cluster.step("a job that is deleted while it runs is cancelled at its runtime"):
        cluster.apply([sample_job("slow", "sync", syncOptions={
            "force-update": True, "bwlimit": 1})], SYSTEM)
        cluster.wait("it runs", lambda: phase(cluster, "slow") == "Running", 60)
        job = cluster.get("samplejob", "slow", SYSTEM)["status"]["jobName"]
        cluster.kubectl("-n", SYSTEM, "delete", "samplejob", "slow")

        def state():
            status, text = runtime_api.call(cluster, NAME, "GET", f"/v1/jobs/{job}")
            return status == 200 and json.loads(text)["state"]
        cluster.wait("the runtime has stopped it", lambda: state() == "cancelled", 30)
    with cluster.step("terminate cancels what runs, and says so in both"):
        cluster.apply([sample_job("older", "sync", syncOptions={
            "force-update": True, "bwlimit": 1})], SYSTEM)
        cluster.wait("it runs", lambda: phase(cluster, "older") == "Running", 60)
        time.sleep(1.1)  # the younger one is the one that was made later, by whole seconds
        cluster.apply([sample_job("younger", "clear", terminate=True)], SYSTEM)
        succeeds(cluster, "younger")
        older = cluster.get("samplejob", "older", SYSTEM)["status"]
        expect(older["phase"] == "Failed" and "younger" in json.dumps(older["conditions"]),
               f"the older job does not say who cancelled it: {json.dumps(older)}")


# --- what is seen ---------------------------------------------------------------------------------

def gated(cluster):
    """Pods that wait before the scheduler looks at them."""
    return [pod for pod in jobs.pods(cluster, "gated").values()
            if pod["spec"].get("schedulingGates") and not pod["spec"].get("nodeName")]


def phase(cluster, name):
    return (cluster.get("samplejob", name, SYSTEM) or {}).get("status", {}).get("phase")


def reason(cluster, name):
    conditions = (cluster.get("samplejob", name, SYSTEM) or {}).get("status", {}).get("conditions",
                                                                                      [])
    return next((each["reason"] for each in conditions if each["type"] == "Ready"), None)


def cron(cluster):
    return cluster.get("samplejob", "nightly", SYSTEM).get("status", {}).get("cronJobStatus", {})


def succeeds(cluster, name):
    cluster.wait(f"{name} ends", lambda: phase(cluster, name) in ("Succeeded", "Failed"), 120)
    status = cluster.get("samplejob", name, SYSTEM)["status"]
    expect(status["phase"] == "Succeeded", f"{name} failed: {json.dumps(status['conditions'])}")


def bytes_of(cluster, field):
    return cluster.get("sampleset", NAME, SYSTEM)["status"]["cacheStatus"].get(field, 0)


def avail(cluster):
    number, unit = cluster.get("sampleset", NAME,
                               SYSTEM)["status"]["cacheStatus"]["diskAvail"].split()
    return float(number) * KIB[unit]


def figures(cluster, files=None, total=None, cached=None):
    """The set's figures follow within half a minute."""
    def right():
        shown = cluster.get("sampleset", NAME, SYSTEM)["status"]["cacheStatus"]
        return ((files is None or shown.get("totalFiles") == str(files))
                and (total is None or shown.get("totalBytes") == total)
                and (cached is None or shown.get("cachedBytes", 0) == cached))
    cluster.wait(f"figures: {files} files, {total} bytes, {cached} cached", right, 45)


def row(cluster):
    return cluster.kubectl("-n", SYSTEM, "get", "sampleset", NAME).splitlines()[1]


def listed(cluster, name, wanted):
    """`ls` in a PaddleJob's worker, as the tutorial does."""
    pod = jobs.shell_pod("ls /mnt/samples", restartPolicy="Never")
    cluster.apply([jobs.paddle_job(name, {"worker": (1, pod)}, sampleSetRef={
        "name": NAME, "mountPath": "/mnt/samples"})], SYSTEM)
    cluster.wait_phase("pdj", name, "Completed", SYSTEM)
    shown = cluster.kubectl("-n", SYSTEM, "logs", f"{name}-worker-0").split()
    expect(shown == wanted, f"the worker sees {shown}, not {wanted}")
    jobs.delete(cluster, name)
