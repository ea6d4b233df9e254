# SPDX-License-Identifier: Apache-2.0
"""A SampleSet with its cache in memory: what a reboot loses, what was cleared, and no node at all.

Then changed keys, two sets in one volume, and what is left on nodes in the end.
"""
import json
import secrets
import time

from paddle_tools.e2e import jobs, juicefs, runtime_api, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, expect

WITH = sample_sets.WITH
IMAGES = sample_sets.IMAGES
NAME = "in-memory"
HOME = "node2"
PLACE = "/var/cache/mem-tier"  # a tmpfs of that node alone: the bed's nodes share their /dev/shm
TIER_MIB = 32
PINNED = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [HOME]}]}]}}


def run(cluster):
    password = "old/+" + secrets.token_hex(8)
    changed = "new/+" + secrets.token_hex(8)
    with sample_sets.secret_leak_check(cluster, password, changed):
        volume = in_memory(cluster)
        lost_and_cleared(cluster)
        without_a_node(cluster)
        with cluster.step("deleted; what the node keeps is looked at later"):
            sample_sets.end(cluster, NAME)
        changed_keys(cluster, password, changed)
        one_volume_for_two(cluster)
        nothing_stays(cluster, volume)


# --- a tier in memory -----------------------------------------------------------------------------

def in_memory(cluster):
    """The volume's name."""
    with cluster.step("a set whose cache is in memory and smaller than the samples: Ready"):
        sample_sets.put_disk(cluster, HOME, PLACE, 256)
        sample_sets.begin(cluster, NAME, 1, count=70, largest=1_500_000, seed=21,
                          nodeAffinity=PINNED,
                          cache={"levels": [{"mediumType": "MEM", "path": f"{PLACE}/{NAME}",
                                             "cacheSize": TIER_MIB}]})
        warmed = sample_sets.condition(cluster, NAME, "Warmed")
        cluster.note(f"{warmed['reason']}: {warmed['message']}")
        expect(warmed["reason"] == "NoRoom", f"the tier is not full: {json.dumps(warmed)}")
    with cluster.step("its mount pod may take the tier and what it needs itself, and took it"):
        (mount,) = sample_sets.clients(cluster, NAME)
        resources = mount["spec"]["containers"][0]["resources"]
        cluster.note(f"the mount pod's resources: {json.dumps(resources)}")
        expect(resources["limits"]["memory"] == f"{TIER_MIB + 2048}Mi", "not that limit")
        expect(resources["requests"]["memory"] == "128Mi", "not that request")
        used = int(cluster.on(HOME, "du", "-sm", PLACE).split()[0])
        cluster.note(f"{used} MiB of the tier's {TIER_MIB} are taken")
        expect(used >= 0.7 * TIER_MIB, f"only {used} MiB of the tier are filled")
        expect(juicefs.restarts(mount, mount["spec"]["containers"][0]["name"]) == 0,
               "the mount pod was killed")
    with cluster.step("its NetworkPolicy selects its runtimes only, and their port"):
        policy = cluster.get("networkpolicy", f"{NAME}-runtime", SYSTEM)["spec"]
        chosen = ",".join(f"{key}={value}" for key, value in
                          policy["podSelector"]["matchLabels"].items())
        pods = cluster.list("pods", SYSTEM, chosen)
        expect([each["metadata"]["name"] for each in pods] == [f"{NAME}-runtime-0"],
               f"it chooses {[each['metadata']['name'] for each in pods]}")
        ports = [each["containerPort"] for each in pods[0]["spec"]["containers"][0]["ports"]]
        (rule,) = policy["ingress"]
        expect([each["port"] for each in rule["ports"]] == ports, "not their port")
        (space,) = [each["namespaceSelector"]["matchLabels"] for each in rule["from"]
                    if "namespaceSelector" in each]
        labels = cluster.get("namespace", SYSTEM)["metadata"]["labels"]
        expect(all(labels.get(key) == value for key, value in space.items()),
               "the operator's namespace is not let in")
    return cluster.get("sampleset", NAME, SYSTEM)["status"]["volumeName"]


def lost_and_cleared(cluster):
    with cluster.step("its node reboots, and its memory is empty: warmed up again, once"):
        before = part(cluster)
        reboot(cluster)
        cluster.wait("another warm-up has ended", lambda: "-l1" in warm_up(cluster)
                     and part(cluster).get("warmedIn") not in (None, "", before["warmedIn"]), 240)
        sample_sets.wait_ready(cluster, NAME, partitions=1)
        after = part(cluster)
        cluster.note(f"{before['warmedBytes']} bytes before, {after['warmedBytes']} after; "
                     f"{warm_up(cluster)}; events {lost_events(cluster)}")
        expect(after["warmedBytes"] >= 0.7 * before["warmedBytes"], "not all of it came back")
        expect(lost_events(cluster) == 1, "no event says that the cache was lost")
    with cluster.step("cleared, then its node reboots: it stays clear"):
        runtime_api.run_job(cluster, NAME, "e2e-clear", {"kind": "clear"})
        cluster.wait("nothing is cached", lambda: not part(cluster).get("cachedBytes"), 60)
        reboot(cluster)
        sample_sets.wait_ready(cluster, NAME, partitions=1, limit=240)
        cluster.wait("its runtime looks", lambda: part(cluster).get("ready"), 60)
        time.sleep(25)  # longer than it takes to ask, to name and to begin a warm-up
        expect("-l2" not in warm_up(cluster), f"a clear was undone by {warm_up(cluster)}")
        expect(not part(cluster).get("cachedBytes"), f"cached again: {json.dumps(part(cluster))}")


def without_a_node(cluster):
    worker = "stuck-worker-0"
    with cluster.step("a worker that can only go beside its data, where no pod may go"):
        cluster.kubectl("cordon", HOME)
        cluster.apply([sample_sets.reader("stuck", NAME)], SYSTEM)
        cluster.wait("it cannot be scheduled", lambda: unschedulable(cluster, worker))
        expect(pinned(cluster, worker), "it is not bound to its data's node")
    number = HOME.removeprefix("node")
    with cluster.step("the only node for its data is lost: the set says so, the worker is let go"):
        cluster.testbed("node-kill", number)
        try:
            said = cluster.wait("no node is left", lambda: no_node(cluster), 120)
            cluster.note(said["message"])
            cluster.wait("the worker runs elsewhere", lambda: (cluster.get(
                "pod", worker, SYSTEM) or {"spec": {}})["spec"].get("nodeName"), 60)
            expect(not pinned(cluster, worker), "it is still bound to a node")
            said = cluster.wait("the job says so", lambda: jobs.condition(
                cluster, "stuck", "DataLocal"), 30)
            expect(said["status"] == "False" and said["reason"] == "NoNode", json.dumps(said))
            cluster.note(said["message"])
            cluster.wait_phase("pdj", "stuck", "Completed", SYSTEM, 120)
            expect(jobs.condition(cluster, "stuck", "DataLocal"),
                   "the finished job has forgotten it")
            jobs.delete(cluster, "stuck")
        finally:
            put_back(cluster, number)
            cluster.kubectl("uncordon", HOME)
    with cluster.step("the node is back: Ready again"):
        sample_sets.wait_ready(cluster, NAME, partitions=1, limit=240)


# --- keys, and a volume that is shared ------------------------------------------------------------

def changed_keys(cluster, password, changed):
    """Of a volume that keeps its data in Redis, as a user whose password changes."""
    name = "rekeyed"
    with cluster.step("changed keys that do not work: the set says so, and goes on with the old"):
        juicefs.empty_databases(cluster, 2, 3)
        sample_sets.add_redis_user(cluster, "keeper", password)
        sample_sets.put_samples(cluster, name, 40, seed=22)
        cluster.apply([volume_of(name, password), sample_sets.sample_set(name, name, name)], SYSTEM)
        sample_sets.wait_ready(cluster, name)
        cluster.apply([volume_of(name, "wrong")], SYSTEM)
        said = cluster.wait("a condition", lambda: refused(cluster, name), 120)
        cluster.note(said["message"])
        expect(cluster.get("sampleset", name, SYSTEM)["status"]["phase"] == "Ready", "not Ready")
    with cluster.step("changed keys that work: the volume has them, and its clients use them"):
        sample_sets.add_redis_user(cluster, "keeper", changed)  # both are good now
        cluster.apply([volume_of(name, changed)], SYSTEM)
        cluster.wait("the condition is gone", lambda: not refused(cluster, name), 120)
        cluster.wait("the volume is prepared", lambda: prepared(cluster, name), 60)
        time.sleep(15)  # clients look for changes with each heartbeat
        juicefs.redis(cluster, ("ACL", "SETUSER", "keeper", f"<{password}"))
        runtime_api.run_job(cluster, name, "e2e-clear", {"kind": "clear"})
        runtime_api.run_job(cluster, name, "e2e-warm", {"kind": "warmup"})
        cluster.wait("all of it is cached again", lambda: whole(cluster, name), 60)
        sample_sets.end(cluster, name)


def volume_of(name, password):
    return sample_sets.secret(name, name=name, storage="redis",
                              bucket=f"redis://{sample_sets.REDIS}/3",
                              metaurl=f"redis://{sample_sets.REDIS}/2",
                              access_key="keeper", secret_key=password)


def one_volume_for_two(cluster):
    with cluster.step("two sets in one volume, each in a directory of its own: files do not mix"):
        juicefs.empty_databases(cluster, 4)
        shared = sample_sets.s3_volume(cluster, "shared", "e2e-shared", 4)
        wanted = {}
        for at, name in enumerate(("upper", "lower")):
            wanted[name] = sample_sets.put_samples(cluster, name, 15 + 5 * at, seed=23 + at)
            cluster.apply([shared, sample_sets.sample_set(name, "shared", name, csi={
                "driver": "juicefs", "juiceFSMountOptions": {"sub-dir": f"/{name}"}})], SYSTEM)
            sample_sets.wait_ready(cluster, name)
        for name, files in wanted.items():
            cluster.apply([sample_sets.reader(f"{name}-job", name)], SYSTEM)
            sample_sets.read_all(cluster, f"{name}-job", files)
            jobs.delete(cluster, f"{name}-job")
        for name in wanted:
            sample_sets.delete(cluster, name)
        cluster.kubectl("-n", SYSTEM, "delete", "secret", "shared")


# --- the end --------------------------------------------------------------------------------------

def nothing_stays(cluster, volume):
    with cluster.step("minutes after its end no mount pod is left, and its cache is empty"):
        start = time.monotonic()
        cluster.wait("its mount pods are gone", lambda: not juicefs.mount_pods(
            cluster, volume), 900)  # a delay of five minutes, and the driver looks every ten
        cluster.wait("its blocks are gone", lambda: not cluster.on(
            HOME, "find", PLACE, "-path", "*/raw/chunks/*", "-type", "f").strip(), 120)
        cluster.note(f"{time.monotonic() - start:.0f} s waited for")


# --- nodes ----------------------------------------------------------------------------------------

def put_back(cluster, number):
    cluster.testbed("node-start", number)
    cluster.wait("the driver is there again", lambda: HOME in juicefs.registered(cluster)
                 and ready(cluster), 120)


def reboot(cluster):
    """What was in memory is gone: an empty directory of the node's disk is in its place."""
    number = HOME.removeprefix("node")
    cluster.testbed("node-kill", number)
    put_back(cluster, number)


def ready(cluster):
    conditions = cluster.get("node", HOME)["status"]["conditions"]
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


# --- what is seen ---------------------------------------------------------------------------------

def part(cluster):
    (found,) = cluster.get("sampleset", NAME, SYSTEM)["status"]["partitions"]
    return found


def warm_up(cluster):
    return cluster.get("sampleset", NAME, SYSTEM)["status"]["jobsName"]["warmupJobName"]


def lost_events(cluster):
    return len([each for each in cluster.list("events", SYSTEM) if each["reason"] == "CacheLost"
                and each["involvedObject"]["name"] == NAME])


def unschedulable(cluster, name):
    pod = cluster.get("pod", name, SYSTEM)
    conditions = (pod or {}).get("status", {}).get("conditions", [])
    return any(each.get("reason") == "Unschedulable" for each in conditions)


def pinned(cluster, name):
    spec = cluster.get("pod", name, SYSTEM)["spec"]
    affinity = spec.get("affinity", {}).get("nodeAffinity", {})
    return "requiredDuringSchedulingIgnoredDuringExecution" in affinity


def no_node(cluster):
    found = sample_sets.condition(cluster, NAME, "Degraded")
    return found if found and found["reason"] == "NoNode" else None


def refused(cluster, name):
    found = sample_sets.condition(cluster, name, "Degraded")
    return found if found and found["reason"] == "CredentialsRefused" else None


def prepared(cluster, name):
    marks = cluster.get("secret", f"{name}-volume", SYSTEM)["metadata"]["annotations"]
    user = cluster.get("secret", name, SYSTEM)["metadata"]
    return marks.get("batch.paddlepaddle.org/prepared-with") == \
        f"{user['uid']}/{user['resourceVersion']}"


def whole(cluster, name):
    shown = cluster.get("sampleset", name, SYSTEM)["status"]["cacheStatus"]
    return shown.get("totalBytes") and shown.get("cachedBytes") == shown["totalBytes"]
