# SPDX-License-Identifier: Apache-2.0
"""A manager that is killed leads again in its pod; of two replicas one leads, the other follows it.
"""
import json
import time
from subprocess import TimeoutExpired

from paddle_tools.e2e import installation, jobs, sample_jobs
from paddle_tools.e2e.cluster import SYSTEM, ScenarioFailed, expect

MANAGER, LABEL = installation.MANAGERS[0], "control-plane=controller-manager"
ASIDE = ["/manager", "--leader-elect", f"--namespace={SYSTEM}", "--metrics-bind-address=0",
         "--health-probe-bind-address=0"]


def run(cluster):
    with cluster.step("each manager holds its lease by the name and uid of its pod"):
        for label in (LABEL, "control-plane=sampleset-manager", "control-plane=samplejob-manager"):
            pod = the_pod(cluster, label)
            cluster.wait(f"{pod['metadata']['name']} leads",
                         lambda each=pod: lease_of(cluster, each), 60)
    killed(cluster)
    beside(cluster)
    replaced(cluster)
    two_replicas(cluster)


def the_pod(cluster, label=LABEL):
    found = pods_of(cluster, label)
    expect(len(found) == 1, f"there are {len(found)} pods with {label}")
    return found[0]


def pods_of(cluster, label):
    return [each for each in cluster.list("pods", SYSTEM, label)
            if "deletionTimestamp" not in each["metadata"]]


def identity(pod):
    return f"{pod['metadata']['name']}_{pod['metadata']['uid']}"


def lease_of(cluster, pod):
    """The lease that a pod holds, or None."""
    return next((each for each in cluster.list("leases", SYSTEM)
                 if each["spec"].get("holderIdentity") == identity(pod)), None)


def restarts(pod):
    return sum(each["restartCount"] for each in pod["status"].get("containerStatuses", []))


def killed(cluster):
    with cluster.step("killed and started again in its pod, it takes its own lease"):
        pod = the_pod(cluster)
        before = lease_of(cluster, pod)
        count = restarts(pod)
        expect(sample_jobs.kill_on(cluster, pod["spec"]["nodeName"], "environ",
                                   f"POD_UID={pod['metadata']['uid']}"), "no process was killed")
        cluster.wait("another container", lambda: restarts(the_pod(cluster)) > count, 60)
        cluster.wait("it leads", lambda: "became leader" in log(cluster, pod), 60)
        after = lease_of(cluster, pod)
        expect(after, "another holder has the lease")
        same = [each["spec"].get(key) for each in (before, after)
                for key in ("leaseTransitions", "acquireTime")]
        expect(same[:2] == same[2:], f"the lease was not renewed but taken over: {same}")
        (container,) = the_pod(cluster)["status"]["containerStatuses"]
        started = container["state"]["running"]["startedAt"]
        line = next(each for each in log(cluster, pod).splitlines() if "became leader" in each)
        cluster.note(f"started at {started}; {line[:80]}")


def log(cluster, pod):
    return cluster.kubectl("-n", SYSTEM, "logs", pod["metadata"]["name"])


def beside(cluster):
    with cluster.step("a second process in the same pod does not get the name, nor lead"):
        pod = the_pod(cluster)
        before = lease_of(cluster, pod)
        try:
            _, out, err = cluster.run("-n", SYSTEM, "exec", pod["metadata"]["name"], "--",
                                      *ASIDE, limit=25)
            raise ScenarioFailed(f"it ended: {out}{err}")
        except TimeoutExpired as ended:
            said = "".join(each.decode() if isinstance(each, bytes) else each or ""
                           for each in (ended.stdout, ended.stderr))
        finally:
            sample_jobs.kill_on(cluster, pod["spec"]["nodeName"], "cmdline", ASIDE[-1])
        expect("paddle-operator starts" in said, f"it did not run: {said}")
        expect("became leader" not in said, f"it led beside the other: {said}")
        after = lease_of(cluster, pod)
        expect(after and after["spec"]["leaseTransitions"] == before["spec"]["leaseTransitions"],
               "the lease changed hands")


def replaced(cluster):
    with cluster.step("a pod in its place has another name, and gets the lease when it is let go"):
        pod = the_pod(cluster)
        before = lease_of(cluster, pod)["spec"].get("leaseTransitions", 0)
        cluster.kubectl("-n", SYSTEM, "delete", "pod", pod["metadata"]["name"])
        after = cluster.wait("the next one leads",
                             lambda: lease_of(cluster, the_pod(cluster)), 90)
        expect(after["spec"]["leaseTransitions"] > before, "it was not another holder")


# --- two replicas ---------------------------------------------------------------------------------

LABELS = {name: f"control-plane={name.removeprefix('paddle-')}" for name in installation.MANAGERS}


def scaled(cluster, replicas):
    for manager, label in LABELS.items():
        cluster.kubectl("-n", SYSTEM, "scale", "deployment", manager, f"--replicas={replicas}")
        cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{manager}",
                        "--timeout=60s", limit=90)
        cluster.wait(f"{replicas} of {manager}",
                     lambda each=label: len(pods_of(cluster, each)) == replicas, 60)


def two_replicas(cluster):
    with cluster.step("two replicas of each manager: both are ready, one leads"):
        scaled(cluster, 2)
        for label in LABELS.values():
            leaders = cluster.wait("one leads", lambda each=label: leading(cluster, each), 60)
            expect(len(leaders) == 1, f"{len(leaders)} of {label} lead")
    failed_over(cluster)
    evicted(cluster)
    with cluster.step("one replica again"):
        scaled(cluster, 1)
        for label in LABELS.values():
            cluster.wait("it leads", lambda each=label: leading(cluster, each), 60)


def leading(cluster, label):
    return [each["metadata"]["name"] for each in pods_of(cluster, label)
            if lease_of(cluster, each)]


def failed_over(cluster):
    name = "while-none-leads"
    with cluster.step("the pods that lead are deleted by force: others lead, work goes on"):
        before = {label: leading(cluster, label)[0] for label in LABELS.values()}
        waiting = {label: {each["metadata"]["name"] for each in pods_of(cluster, label)} - {leader}
                   for label, leader in before.items()}
        start = time.monotonic()
        cluster.kubectl("-n", SYSTEM, "delete", "pod", *before.values(), "--force",
                        "--grace-period=0")
        cluster.apply([jobs.paddle_job(name, {"worker": (2, jobs.shell_pod(
            "true", restartPolicy="Never"))})], SYSTEM)
        for label, leader in before.items():
            (after,) = cluster.wait(f"another of {label} leads", lambda each=label, old=leader: [
                found for found in leading(cluster, each) if found != old], 60)
            who = "the one that waited" if after in waiting[label] else "a new one"
            cluster.note(f"{label}: {who} leads after {time.monotonic() - start:.0f} s")
        cluster.wait_phase("pdj", name, "Completed", SYSTEM, 60)
        jobs.delete(cluster, name)


def evicted(cluster):
    with cluster.step("a drain takes one of two at a time: the second eviction is refused"):
        scaled(cluster, 2)  # whole again
        first, second = (each["metadata"]["name"] for each in pods_of(cluster, LABEL))
        cluster.wait("both count", lambda: cluster.get(
            "poddisruptionbudget", MANAGER, SYSTEM)["status"]["disruptionsAllowed"] == 1, 30)
        expect(evict(cluster, first)[0] == 0, "the first was refused")
        code, said = evict(cluster, second)
        expect(code != 0 and "disruption budget" in said, f"the second was evicted, too: {said}")


def evict(cluster, pod):
    body = json.dumps({"apiVersion": "policy/v1", "kind": "Eviction",
                       "metadata": {"name": pod, "namespace": SYSTEM}})
    code, out, err = cluster.run("create", "--raw", f"/api/v1/namespaces/{SYSTEM}/pods/{pod}"
                                 "/eviction", "-f", "-", stdin=body)
    return code, out + err
