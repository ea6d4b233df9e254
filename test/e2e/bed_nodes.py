# SPDX-License-Identifier: Apache-2.0
"""The bed itself: pods, services, names, logs, rights across nodes; nodes and links that fail."""
import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path

from paddle_tools.e2e.cluster import component, expect

NS = "bed-nodes"
IMAGE = "busybox:1.35"
SERVE = "hostname > /tmp/index.html; echo I am $(hostname); exec httpd -f -v -p 8080 -h /tmp"


def workload():
    """Three pods, one on each node, behind a service and with names of their own."""
    labels = {"app": "web"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}]}}
    container = {"name": "web", "image": IMAGE, "command": ["sh", "-c", SERVE],
                 "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1}}
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
         "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "each"},
         "spec": {"clusterIP": "None", "selector": labels, "ports": [{"port": 8080}]}},
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "web"},
         "spec": {"serviceName": "each", "replicas": 3, "podManagementPolicy": "Parallel",
                  "selector": {"matchLabels": labels},
                  "template": {"metadata": {"labels": labels},
                               "spec": {"terminationGracePeriodSeconds": 0, "affinity": apart,
                                        "containers": [container]}}}}]


def run(cluster):
    cluster.kubectl("create", "namespace", NS)
    try:
        with cluster.step("three pods, one on each node"):
            cluster.apply(workload(), NS)
            cluster.wait("three ready pods", lambda: len(ready_pods(cluster)) == 3)
        pods = {pod["metadata"]["name"]: pod for pod in ready_pods(cluster)}
        expect({pod["spec"]["nodeName"] for pod in pods.values()} == {"node1", "node2", "node3"},
               "the pods are not one on each node")
        network(cluster, pods)
        streams(cluster)
        rights(cluster, pods)
        orphans(cluster)
        audit(cluster)
        node_off_and_on(cluster)
        link_down_and_up(cluster)
    finally:
        cluster.kubectl("delete", "namespace", NS, "--wait=true", limit=120)


def ready_pods(cluster):
    return [pod for pod in cluster.list("pods", NS, "app=web")
            if any(each["type"] == "Ready" and each["status"] == "True"
                   for each in pod["status"].get("conditions", []))]


def state(cluster):
    return Path(cluster.kubeconfig).parent


def in_pod(cluster, name, *argv):
    return cluster.kubectl("-n", NS, "exec", name, "--", *argv)


def network(cluster, pods):
    service = cluster.get("service", "web", NS)["spec"]["clusterIP"]
    with cluster.step("a pod reaches a pod of another node, which sees the asker's own address"):
        seen = in_pod(cluster, "web-0", "wget", "-qO-",
                      f"http://{pods['web-1']['status']['podIP']}:8080/").strip()
        expect(seen == "web-1", f"web-1 answered '{seen}'")
        log = cluster.kubectl("-n", NS, "logs", "web-1")
        expect(pods["web-0"]["status"]["podIP"] in log, f"web-1 did not see who asked: {log}")
    with cluster.step("a service is reached from a pod, from every node and from the host"):
        answers = {in_pod(cluster, "web-2", "wget", "-qO-", "http://web/").strip()}
        for place in ("node1", "node2", "node3", "host"):
            answers.add(cluster.on(place, "curl", "-sSf", "-m", "10", f"http://{service}/").strip())
        expect(answers <= set(pods), f"strangers answered: {answers}")
    with cluster.step("names: a service, all its pods, one of them, and none outside"):
        def addresses(name):
            said = in_pod(cluster, "web-0", "sh", "-c", f"nslookup {name} | sed 1,3d || true")
            return {line.split()[1] for line in said.splitlines() if line.startswith("Address")}
        domain = f"{NS}.svc.cluster.local"
        expect(addresses(f"web.{domain}") == {service}, "the service's name")
        expect(addresses(f"each.{domain}") == {pod["status"]["podIP"] for pod in pods.values()},
               "the headless service's name")
        expect(addresses(f"web-1.each.{domain}") == {pods["web-1"]["status"]["podIP"]},
               "one pod's name")
        expect(addresses("example.com") == set(), "a name of the world outside")


def streams(cluster):
    with cluster.step("logs, exec with input, port-forward"):
        expect("I am web-1" in cluster.kubectl("-n", NS, "logs", "web-1"), "logs of web-1")
        echoed = cluster.kubectl("-n", NS, "exec", "-i", "web-2", "--", "cat", stdin="twice\n")
        expect(echoed == "twice\n", f"cat gave '{echoed}'")
        with PortForward(cluster, "web-0") as port, \
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
            expect(answer.read().strip() == b"web-0", "port-forward to web-0")


class PortForward:
    """A port of this machine that leads to a pod."""

    def __init__(self, cluster, pod):
        self._argv = [component("kubectl"), "--kubeconfig", cluster.kubeconfig, "-n", NS,
                      "port-forward", f"pod/{pod}", ":8080"]

    def __enter__(self):
        self._child = subprocess.Popen(self._argv, stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.DEVNULL)
        # "Forwarding from 127.0.0.1:40123 -> 8080"
        return int(self._child.stdout.readline().split()[2].rpartition(":")[2])

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()


def rights(cluster, pods):
    """kubelets ask the API server who it is and what it may."""
    token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
    address = pods["web-0"]["status"]["hostIP"]
    with cluster.step("kubelet refuses whom the API server does not know or allow"):
        def asked(*header):
            return cluster.on("host", "curl", "-sk", "-m", "10", "-o", "/dev/null", "-w",
                              "%{http_code}", *header, f"https://{address}:10250/pods").strip()
        expect(asked() == "401", "a stranger was not refused")
        header = state(cluster) / "header"  # in a file: all users can read command lines
        with open(os.open(header, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as out:
            out.write(f"Authorization: Bearer {in_pod(cluster, 'web-0', 'cat', token)}\n")
        expect(asked("-H", f"@{header}") == "403",
               "a service account without rights was not refused")
        cluster.kubectl("create", "clusterrole", "bed-kubelet", "--verb=get",
                        "--resource=nodes/proxy,nodes/pods")
        cluster.kubectl("create", "clusterrolebinding", "bed-kubelet", "--clusterrole=bed-kubelet",
                        f"--serviceaccount={NS}:default")
        try:
            cluster.wait("the granted right", lambda: asked("-H", f"@{header}") == "200")
        finally:
            header.unlink()
            cluster.kubectl("delete", "clusterrolebinding,clusterrole", "bed-kubelet")


def orphans(cluster):
    with cluster.step("what holds a pod's namespaces reaps what its containers leave behind"):
        leave = "sh -c 'sleep 0.1 & exit 0' & sleep 1; ps -o pid,stat,comm; exec sleep 1000"
        cluster.apply([{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shared"},
                        "spec": {"shareProcessNamespace": True, "terminationGracePeriodSeconds": 0,
                                 "containers": [{"name": "main", "image": IMAGE,
                                                 "command": ["sh", "-c", leave]}]}}], NS)
        cluster.wait_phase("pod", "shared", "Running", NS)
        said = cluster.wait("its processes", lambda: (
            log := cluster.kubectl("-n", NS, "logs", "shared")) and "PID" in log and log)
        expect(" Z " not in said, f"there are zombies:\n{said}")
        cluster.kubectl("-n", NS, "delete", "pod", "shared")


def audit(cluster):
    with cluster.step("the audit log has every request once, without its content"):
        cluster.kubectl("-n", NS, "create", "secret", "generic", "audited",
                        "--from-literal=a=hidden")
        path = f"/api/v1/namespaces/{NS}/secrets"

        def events():
            with open(state(cluster) / "audit.log", encoding="utf-8") as log:
                whole = [line for line in log if line.endswith("\n")]
            return [event for event in map(json.loads, whole)
                    if event["requestURI"].startswith(path) and event["verb"] == "create"]
        (event,) = cluster.wait("the event", events, 10)
        expect(event["stage"] == "ResponseComplete" and event["user"]["username"] == "admin" and
               "requestObject" not in event, f"the audit log says {json.dumps(event)}")


def node_ready(cluster, name):
    conditions = cluster.get("node", name)["status"]["conditions"]
    return next(each["status"] for each in conditions if each["type"] == "Ready") == "True"


def node_off_and_on(cluster):
    with cluster.step("a node whose plug is pulled is NotReady, its pods are evicted; others stay"):
        cluster.testbed("node-kill", 2)
        cluster.wait("node2 NotReady", lambda: not node_ready(cluster, "node2"))
        expect(node_ready(cluster, "node1") and node_ready(cluster, "node3"), "others went with it")
        cluster.wait("its pod evicted", lambda: len(ready_pods(cluster)) == 2)
    with cluster.step("switched on again it is Ready and runs its pod"):
        start = time.monotonic()
        cluster.testbed("node-start", 2)
        cluster.wait("node2 Ready", lambda: node_ready(cluster, "node2"))
        cluster.note(f"Ready {time.monotonic() - start:.1f} s after it was switched on")
        cluster.wait("three ready pods", lambda: len(ready_pods(cluster)) == 3)


def link_down_and_up(cluster):
    with cluster.step("a node without network is NotReady, and Ready when it is back"):
        cluster.testbed("link-down", 3)
        cluster.wait("node3 NotReady", lambda: not node_ready(cluster, "node3"))
        cluster.testbed("link-up", 3)
        cluster.wait("node3 Ready", lambda: node_ready(cluster, "node3"))
        cluster.wait("three ready pods", lambda: len(ready_pods(cluster)) == 3)
