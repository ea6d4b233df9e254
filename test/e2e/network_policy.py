# SPDX-License-Identifier: Apache-2.0
"""A cluster that enforces NetworkPolicies: sets work, strangers do not reach their runtimes.

The managers look at every namespace, as the operator's own is let in. Each refusal has its
counterpart that is let through: a network that drops everything, or nothing, fails here.
"""
from paddle_tools.e2e import connectivity, installation, jobs, juicefs, sample_jobs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOP, expect, testbed

MAKES_CLUSTERS = True
IMAGES = (*sample_sets.IMAGES, "etcd-e2e")
ETCD, ETCD_IMAGE = TOP / "deploy/elastic/etcd.yaml", "quay.io/coreos/etcd:v3.5.21"
NAME = "e2e-policy"
SET, HERE, THERE = "guarded", "e2e-team", "e2e-others"
PORT = 7716
MANAGER = "paddle-sampleset-manager"


def run(scenario_run):
    try:
        with scenario_run.step("a cluster whose network enforces policies"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--with", ",".join((*sample_sets.WITH, "policies")))
        on(scenario_run.cluster(NAME))
    finally:
        testbed(NAME, "down")


def on(cluster):
    """Everything on a cluster that is up; it has the part `policies`."""
    installation.install(cluster)
    with cluster.step("the managers look at every namespace"):
        cluster.kubectl("apply", "-k", TOP / "config/overlays/all-namespaces")
        for manager in installation.MANAGERS:
            rolled_out(cluster, manager)
        sample_sets.install_driver(cluster)
    wanted = ready(cluster)
    runtimes = [cluster.get("pod", f"{SET}-runtime-{each}", HERE) for each in (0, 1)]
    strangers = people(cluster, runtimes)
    refused(cluster, strangers, runtimes)
    metrics(cluster, strangers)
    let_in(cluster, strangers, runtimes)
    elastic_etcd(cluster, strangers)
    works(cluster, wanted)
    without_policy(cluster, strangers, runtimes)
    cluster.kubectl("delete", "namespace", HERE, THERE, limit=180)


def rolled_out(cluster, manager):
    cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{manager}", "--timeout=90s",
                    limit=120)


def ready(cluster):
    with cluster.step("a SampleSet of two partitions becomes Ready with its policy in force"):
        juicefs.empty_databases(cluster, 3)
        wanted = sample_sets.put_samples(cluster, SET, 40, seed=77)
        for ns in (HERE, THERE):
            cluster.kubectl("create", "namespace", ns)
        cluster.apply([sample_sets.source_secret(cluster, "samples-source"),
                       sample_sets.s3_volume(cluster, SET, "e2e-guarded", 3),
                       sample_sets.sample_set(SET, SET, SET, 2)], HERE)
        sample_sets.wait_ready(cluster, SET, HERE, partitions=2)
        expect(cluster.get("networkpolicy", f"{SET}-runtime", HERE), "it has no policy")
        nodes = sample_sets.labelled(cluster, SET)
        expect(len(nodes) == 2, f"its partitions are on {nodes}")
        for node in nodes:
            cluster.wait(f"{node} has rules for it", lambda each=node: (
                f"{HERE}/{SET}-runtime" in cluster.on(each, "iptables", "-S")))
    return wanted


def people(cluster, runtimes):
    """{title: pod} who have no business with runtimes: beside each of them, and elsewhere."""
    with cluster.step("strangers beside the runtimes and on other nodes"):
        homes = [each["spec"]["nodeName"] for each in runtimes]
        (other,) = {f"node{each}" for each in (1, 2, 3)} - set(homes)
        places = {("here-beside", HERE): homes[0], ("here-away", HERE): other,
                  ("there-beside", THERE): homes[1], ("there-away", THERE): other,
                  ("in-operators-namespace", SYSTEM): other}
        for (name, ns), node in places.items():
            spec = jobs.shell_pod("exec httpd -f -p 8080",
                                  nodeSelector={"kubernetes.io/hostname": node})
            cluster.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                            "spec": spec}], ns)
        for name, ns in places:
            cluster.wait_phase("pod", name, "Running", ns)
        return {name: cluster.get("pod", name, ns) for name, ns in places}


def expect_reach(cluster, pod, target, wanted, port=PORT):
    """At once, or soon: the firewall hears of changes a moment after the API server."""
    title = f"{pod['metadata']['name']} finds {target['metadata']['name']}:{port} {wanted}"
    cluster.wait(title, lambda: connectivity.from_pod(cluster, pod, target["status"]["podIP"], port)
                 == wanted, 20)


def refused(cluster, strangers, runtimes):
    outsiders = [each for name, each in strangers.items() if name != "in-operators-namespace"]
    with cluster.step("pods of this and of another namespace get no connection to runtimes"):
        for pod in outsiders:
            for target in runtimes:
                expect_reach(cluster, pod, target, connectivity.CLOSED)
    with cluster.step("they reach each other all the same, and what has no policy"):
        for pod in outsiders[1:]:
            expect_reach(cluster, pod, outsiders[0], connectivity.OPEN, 8080)
    with cluster.step("nor does who is outside of all nodes"):
        for target in runtimes:
            found = connectivity.from_place(cluster, "host", target["status"]["podIP"], PORT)
            expect(found == connectivity.CLOSED, f"the cluster's host finds it {found}")


def metrics(cluster, strangers):
    reader, stranger = strangers["there-away"], strangers["here-away"]
    with cluster.step("metrics of the managers are open to namespaces with the label only"):
        manager = manager_pod(cluster)
        for pod in (reader, stranger, strangers["in-operators-namespace"]):
            expect_reach(cluster, pod, manager, connectivity.CLOSED, 8080)
            expect_reach(cluster, pod, manager, connectivity.CLOSED, 8081)
        found = connectivity.from_place(cluster, manager["spec"]["nodeName"],
                                        manager["status"]["podIP"], 8081)
        expect(found == connectivity.OPEN, f"its own node, as kubelet's probes, finds 8081 {found}")
        cluster.kubectl("label", "namespace", THERE, "metrics=enabled")
        expect_reach(cluster, reader, manager, connectivity.OPEN, 8080)
        expect_reach(cluster, stranger, manager, connectivity.CLOSED, 8080)


def let_in(cluster, strangers, runtimes):
    with cluster.step("runtimes reach each other, the managers and kubelets reach them"):
        for one, other in (runtimes, runtimes[::-1]):
            expect_reach(cluster, one, other, connectivity.OPEN)
        for target in runtimes:
            expect_reach(cluster, manager_pod(cluster), target, connectivity.OPEN)
            expect_reach(cluster, strangers["in-operators-namespace"], target, connectivity.OPEN)
            node = target["spec"]["nodeName"]
            found = connectivity.from_place(cluster, node, target["status"]["podIP"], PORT)
            expect(found == connectivity.OPEN, f"its own node finds it {found}")
    pod = strangers["here-away"]
    policy = cluster.get("networkpolicy", f"{SET}-runtime", HERE)["spec"]
    labels = policy["podSelector"]["matchLabels"]
    with cluster.step("a pod with the labels of runtimes is let in, in their namespace only"):
        given = [f"{key}={value}" for key, value in labels.items()]
        taken = [f"{key}-" for key in labels]
        for name, ns in (("here-away", HERE), ("there-away", THERE)):
            cluster.kubectl("-n", ns, "label", "pod", name, *given)
        expect_reach(cluster, pod, runtimes[0], connectivity.OPEN)
        expect_reach(cluster, strangers["there-away"], runtimes[0], connectivity.CLOSED)
        for name, ns in (("here-away", HERE), ("there-away", THERE)):
            cluster.kubectl("-n", ns, "label", "pod", name, *taken)
        expect_reach(cluster, pod, runtimes[0], connectivity.CLOSED)


def elastic_etcd(cluster, strangers):
    with cluster.step("the etcd of elastic jobs lets in pods of jobs and no others"):
        cluster.load("etcd-e2e")
        cluster.tag_image("etcd-e2e:v1", ETCD_IMAGE)
        cluster.apply(ETCD)
        cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-elastic-etcd",
                        "--timeout=90s", limit=120)
        (etcd,) = cluster.list("pods", SYSTEM, "app=paddle-elastic-etcd")
        pod = strangers["here-away"]
        for stranger in (pod, strangers["there-away"], strangers["in-operators-namespace"]):
            expect_reach(cluster, stranger, etcd, connectivity.CLOSED, 2379)
        cluster.kubectl("-n", HERE, "label", "pod", "here-away",
                        "batch.paddlepaddle.org/job-name=elastic")
        expect_reach(cluster, pod, etcd, connectivity.OPEN, 2379)
        cluster.kubectl("-n", HERE, "label", "pod", "here-away", "batch.paddlepaddle.org/job-name-")
        expect_reach(cluster, pod, etcd, connectivity.CLOSED, 2379)
        cluster.kubectl("delete", "-f", ETCD)


def manager_pod(cluster):
    found = [each for each in cluster.list("pods", SYSTEM, "control-plane=sampleset-manager")
             if each["status"]["phase"] == "Running"
             and "deletionTimestamp" not in each["metadata"]]
    expect(len(found) == 1, f"there are {len(found)} managers of SampleSets")
    return found[0]


def works(cluster, wanted):
    with cluster.step("a job's workers read the samples, and SampleJobs reach both partitions"):
        cluster.apply([sample_sets.reader("reads", SET, workers=2)], HERE)
        for worker in (0, 1):
            sample_sets.read_all(cluster, "reads", wanted, HERE, worker)
        jobs.delete(cluster, "reads", HERE)
        for kind in ("clear", "warmup"):
            cluster.apply([sample_jobs.sample_job(f"now-{kind}", kind, SET)], HERE)
            cluster.wait_phase("samplejob", f"now-{kind}", "Succeeded", HERE, limit=120)
        sample_sets.wait_ready(cluster, SET, HERE, partitions=2)


def without_policy(cluster, strangers, runtimes):
    pod = strangers["here-beside"]
    with cluster.step("without the policy a stranger is let in: it was the policy"):
        cluster.kubectl("-n", SYSTEM, "scale", f"deployment/{MANAGER}", "--replicas=0")
        cluster.wait("the manager is gone", lambda: not cluster.list(
            "pods", SYSTEM, "control-plane=sampleset-manager"))
        cluster.kubectl("-n", HERE, "delete", "networkpolicy", f"{SET}-runtime")
        for target in runtimes:
            expect_reach(cluster, pod, target, connectivity.OPEN)
    with cluster.step("the manager is back: so is the policy, and the stranger is out"):
        cluster.kubectl("-n", SYSTEM, "scale", f"deployment/{MANAGER}", "--replicas=1")
        rolled_out(cluster, MANAGER)
        cluster.wait("the policy is there again",
                     lambda: cluster.get("networkpolicy", f"{SET}-runtime", HERE), 60)
        for target in runtimes:
            expect_reach(cluster, pod, target, connectivity.CLOSED)
        sample_sets.wait_ready(cluster, SET, HERE, partitions=2)
        sample_sets.delete(cluster, SET, HERE)
