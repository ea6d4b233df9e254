# SPDX-License-Identifier: Apache-2.0
"""The Helm chart on a cluster with nodes: install, `helm test`, upgrade, rollback, uninstall.

The upgrade brings the driver of JuiceFS and two replicas; a job that runs meanwhile is left alone.
"""
import json
import subprocess

from paddle_tools.e2e import jobs, juicefs
from paddle_tools.e2e.cluster import SYSTEM, TOP, component, expect, testbed

MAKES_CLUSTERS = True
COMPONENTS = ("helm",)
IMAGES = juicefs.IMAGES
NAME = "e2e-chart"
RELEASE, CHART = "paddle-operator", TOP / "charts/paddle-operator"
MANAGERS = ("paddle-controller-manager", "paddle-samplejob-manager", "paddle-sampleset-manager")
JOB = "beside-helm"


def run(scenario_run):
    try:
        with scenario_run.step("a cluster without the operator; our images on its nodes"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--nodes", "2")
            cluster = scenario_run.cluster(NAME)
            cluster.load("paddle-operator", "paddle-cache", *juicefs.IMAGES)
        installs(cluster)
        upgrades(cluster)
        rolls_back(cluster)
        uninstalls(cluster)
    finally:
        testbed(NAME, "down", limit=600)


def helm(cluster, *arguments):
    """Runs Helm as a user does; returns its output."""
    home = f"{TOP}/build/e2e/helm-home"
    done = subprocess.run([component("helm"), *map(str, arguments)], check=False, text=True,
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL,
                          env={"HOME": home, "PATH": "/usr/bin:/bin",
                               "KUBECONFIG": cluster.kubeconfig})
    expect(done.returncode == 0, f"helm {' '.join(map(str, arguments))}: {done.stderr[-2000:]}")
    return done.stdout


def managers_run(cluster, replicas):
    for each in MANAGERS:
        cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{each}", "--timeout=90s",
                        limit=120)
        status = cluster.get("deployment", each, SYSTEM)["status"]
        expect(status.get("readyReplicas") == replicas, f"{each}: {status}")


def worker(cluster):
    """UID and restarts of the job's pod, which nothing here may change."""
    pod = jobs.pods(cluster, JOB)[f"{JOB}-worker-0"]
    return pod["metadata"]["uid"], juicefs.restarts(pod, "main")


def installs(cluster):
    with cluster.step("helm install: the managers run; the notes name the next command"):
        notes = helm(cluster, "install", RELEASE, CHART)
        managers_run(cluster, 1)
        expect(f"helm test {RELEASE}" in notes, f"its notes: {notes}")
    with cluster.step("helm test passes, and leaves nothing"):
        said = helm(cluster, "test", RELEASE, "--timeout", "2m")
        expect("Succeeded" in said, said)
        left = cluster.kubectl("-n", SYSTEM, "get", "pdj,pods", "-o", "name")
        expect("-test" not in left, f"left behind: {left}")
    with cluster.step("a job runs"):
        cluster.apply([jobs.paddle_job(JOB, {"worker": (1, jobs.shell_pod("sleep 3600"))})], SYSTEM)
        cluster.wait_phase("pdj", JOB, "Running", SYSTEM)


def upgrades(cluster):
    before = worker(cluster)
    with cluster.step("helm upgrade: the driver on every node, two replicas, the job as it was"):
        helm(cluster, "upgrade", RELEASE, CHART, "--reset-then-reuse-values", "--set",
             "juicefs.enabled=true", "--set", "replicas=2")
        managers_run(cluster, 2)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster), 120)
        expect(worker(cluster) == before, "the job's pod was changed")
    with cluster.step("helm test passes again"):
        helm(cluster, "test", RELEASE, "--timeout", "2m")


def rolls_back(cluster):
    before = worker(cluster)
    with cluster.step("helm rollback: one replica, no driver, the job as it was"):
        helm(cluster, "rollback", RELEASE, "1", "--wait", "--timeout", "2m")
        managers_run(cluster, 1)
        cluster.wait("no pod of the driver is left", lambda: not cluster.list(
            "pods", juicefs.SPACE, "app=juicefs-csi-node"), 90)
        expect(worker(cluster) == before, "the job's pod was changed")


def uninstalls(cluster):
    before = worker(cluster)
    with cluster.step("helm uninstall: the managers are gone, the job and its pod stay"):
        helm(cluster, "uninstall", RELEASE, "--wait", "--timeout", "2m")
        cluster.wait("no manager is left", lambda: not [
            each for each in cluster.list("pods", SYSTEM)
            if each["metadata"]["name"].startswith(MANAGERS)], 90)
        expect(worker(cluster) == before, "the job's pod was changed")
    with cluster.step("helm install again takes over what stayed; the job ends as its user says"):
        helm(cluster, "install", RELEASE, CHART, "--set", "keepOnUninstall=false")
        managers_run(cluster, 1)
        jobs.delete(cluster, JOB)
    with cluster.step("helm uninstall with keepOnUninstall=false leaves nothing"):
        helm(cluster, "uninstall", RELEASE, "--wait", "--timeout", "2m")
        cluster.wait("no definition is left", lambda: "paddlepaddle.org" not in cluster.kubectl(
            "get", "crd", "-o", "name"))
        cluster.wait_gone("namespace", SYSTEM, limit=120)
        roles = json.loads(cluster.kubectl("get", "clusterroles,clusterrolebindings", "-o", "json"))
        left = [each["metadata"]["name"] for each in roles["items"]
                if each["metadata"]["name"].startswith("paddle-")]
        expect(not left, f"left behind: {left}")
