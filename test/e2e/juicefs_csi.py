# SPDX-License-Identifier: Apache-2.0
"""Static JuiceFS volumes through mount pods: shared by nodes, repaired after every kind of end."""
import json
import time
from pathlib import Path

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import TOP, expect

WITH = ("redis", "s3")
LEAKS_OF_OTHERS = juicefs.FORMAT_OF_DRIVER
IMAGES = juicefs.IMAGES
NAME = "e2e-mounted"
CACHE = f"/var/cache/{NAME}"
MANIFEST = TOP / "deploy/csi/juicefs.yaml"
REGISTRY = "/var/lib/kubelet/plugins_registry"
ACCOUNT = f"system:serviceaccount:{juicefs.SPACE}:juicefs-csi-node"


def run(cluster):
    with cluster.step("the driver's images on every node"):
        cluster.load("paddle-cache", *IMAGES)
    install(cluster)
    share(cluster)
    wanted = juicefs.checksum(cluster, "a", "first")
    register_again(cluster)
    kill_registrar(cluster)
    replace_driver(cluster, wanted)
    replace_mount_pod(cluster, wanted)
    reboot(cluster, wanted)
    leave(cluster)
    rights_suffice(cluster)
    uninstall(cluster)


def install(cluster):
    with cluster.step("kubectl apply -f deploy/csi/juicefs.yaml; every kubelet knows the driver"):
        cluster.kubectl("apply", "-f", MANIFEST)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))
        shown = cluster.kubectl("-n", juicefs.SPACE, "get", "pods", "-l",
                                "app.kubernetes.io/name=juicefs-csi-driver")
        expect(shown.count(" 2/2 ") == len(juicefs.nodes(cluster)), f"not all run:\n{shown}")


def share(cluster):
    with cluster.step("Secret, volume and claim; the file system is made"):
        cluster.apply([*juicefs.volume(cluster, NAME, 1, CACHE), juicefs.formatting(NAME)])
        cluster.wait_phase("pod", f"{NAME}-format", "Succeeded")
        cluster.kubectl("delete", "pod", f"{NAME}-format")
    with cluster.step("three pods on two nodes"):
        cluster.apply([juicefs.user("a", NAME, "node1"), juicefs.user("b", NAME, "node1"),
                       juicefs.user("c", NAME, "node2")])
        cluster.wait("all pods Ready", lambda: juicefs.ready(cluster, "a", "b", "c"))
    with cluster.step("written on one node, read on the other"):
        juicefs.write(cluster, "a", "first", 64)
        sums = {each: juicefs.checksum(cluster, each, "first") for each in ("a", "b", "c")}
        expect(len(set(sums.values())) == 1, f"the pods read different bytes: {sums}")
    with cluster.step("one mount pod per node, shared; the cache is the node's own"):
        for node, reader, count in (("node1", "a", 2), ("node2", "c", 1)):
            found = juicefs.mount_pods(cluster, NAME, node)
            expect(len(found) == 1, f"{node} has {len(found)} mount pods of the volume")
            expect(len(juicefs.references(found[0])) == count,
                   f"{node}: {juicefs.references(found[0])} should be {count} pods")
            wanted = found[0]["spec"]["containers"][0]["resources"]["requests"]
            expect(wanted["cpu"] == "50m", f"a mount pod asks for {wanted}")
            juicefs.wait_cached(cluster, node, CACHE, reader, "first", 60)
        expect(not juicefs.mount_pods(cluster, NAME, "node3"),
               "node3 has a mount pod that no pod uses")
        expect(not Path(CACHE).exists(), f"{CACHE} appeared on the machine itself")


def register_again(cluster):
    with cluster.step("kubelet is killed, then the registry is emptied: registered again twice"):
        lives = juicefs.restarts(juicefs.driver_pod(cluster, "node3"), "registrar")
        for command in ("kill -9 $(pidof kubelet)", f"rm {REGISTRY}/{juicefs.DRIVER}-reg.sock"):
            before = registrations(cluster, "node3")
            cluster.on("node3", "sh", "-c", command)
            cluster.wait(f"registered once more after '{command}'",
                         lambda seen=before: registrations(cluster, "node3") > seen)
        found = juicefs.driver_pod(cluster, "node3")
        expect(juicefs.restarts(found, "registrar") == lives,
               "the registrar did not live through it")


def kill_registrar(cluster):
    with cluster.step("the registrar is killed with -9: registered again, and volumes mount"):
        before = juicefs.restarts(juicefs.driver_pod(cluster, "node1"), "registrar")
        cluster.on("node1", "sh", "-c", "kill -9 $(pidof paddle-cache)")
        cluster.wait("the registrar runs again", lambda: juicefs.restarts(
            juicefs.driver_pod(cluster, "node1"), "registrar") > before)
        registered_for_good(cluster)
        mounts_again(cluster, "after-registrar")


def replace_driver(cluster, wanted):
    with cluster.step("the driver's pod is replaced: reads go on, and volumes mount"):
        old = juicefs.driver_pod(cluster, "node1")["metadata"]["name"]
        cluster.kubectl("-n", juicefs.SPACE, "delete", "pod", old, "--wait=false")
        while cluster.get("pod", old, juicefs.SPACE):
            expect(juicefs.checksum(cluster, "a", "first") == wanted, "a read went wrong meanwhile")
        registered_for_good(cluster)
        mounts_again(cluster, "after-driver")


def replace_mount_pod(cluster, wanted):
    with cluster.step("the mount pod is deleted: another takes the mount over, no read fails"):
        (old,) = juicefs.mount_pods(cluster, NAME, "node1")
        cluster.kubectl("-n", juicefs.SPACE, "delete", "pod", old["metadata"]["name"],
                        "--wait=false")
        while cluster.get("pod", old["metadata"]["name"], juicefs.SPACE):
            expect(juicefs.checksum(cluster, "a", "first") == wanted, "a read went wrong meanwhile")
        cluster.wait("one other mount pod", lambda: len(
            juicefs.mount_pods(cluster, NAME, "node1")) == 1 and juicefs.ready(
                cluster, juicefs.mount_pods(cluster, NAME, "node1")[0]["metadata"]["name"],
                ns=juicefs.SPACE))
        expect(juicefs.checksum(cluster, "a", "first") == wanted, "a read went wrong afterwards")


def reboot(cluster, wanted):
    with cluster.step("a node loses power and starts again: its pod reads again"):
        cluster.testbed("node-kill", 2)
        cluster.testbed("node-start", 2)
        cluster.wait("the pod reads its volume again",
                     lambda: juicefs.restarts(cluster.get("pod", "c"), "main") > 0
                     and juicefs.ready(cluster, "c")
                     and juicefs.checksum(cluster, "c", "first") == wanted, 120)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))
        expect(len(juicefs.mounts(cluster, "node2", NAME)) >= 1, "node2 has no mount of JuiceFS")


def leave(cluster):
    with cluster.step("one of two users leaves: the mount stays; the last one: it goes"):
        cluster.kubectl("delete", "pod", "b", "c")
        expect(len(juicefs.mount_pods(cluster, NAME, "node1")) == 1, "the mount pod went too early")
        cluster.kubectl("delete", "pod", "a")
        cluster.wait("no mount pod is left", lambda: not juicefs.mount_pods(cluster, NAME), 90)
        for node in ("node1", "node2"):
            cluster.wait(f"no mount is left on {node}",
                         lambda at=node: not juicefs.mounts(cluster, at, NAME))


def rights_suffice(cluster):
    with cluster.step("the driver was refused nothing that it needs"):
        used, refused = set(), set()
        for line in (Path(cluster.kubeconfig).parent / "audit.log").open():
            event = json.loads(line)
            if event["user"]["username"] != ACCOUNT or "objectRef" not in event:
                continue
            what = event["objectRef"]
            right = "/".join(filter(None, (what["resource"], what.get("subresource"))))
            used.add(f"{event['verb']} {right} in {what.get('namespace', 'the cluster')}")
            if event.get("responseStatus", {}).get("code") == 403:
                refused.add(f"{event['verb']} {right} in {what.get('namespace')}")
        expect(used, f"the audit log knows nothing of {ACCOUNT}")
        cluster.note(f"the driver used: {', '.join(sorted(used - refused))}")
        # Users' own Secrets, when a mount pod is replaced: it goes on without.
        needed = {each for each in refused
                  if not each.startswith("get secrets in ") or each.endswith(f" {juicefs.SPACE}")}
        expect(not needed, f"the driver was refused: {sorted(needed)}")


def uninstall(cluster):
    with cluster.step("kubectl delete; kubelets forget the driver, nothing is left"):
        cluster.kubectl("delete", "pvc", NAME)
        cluster.kubectl("delete", "pv", NAME)
        cluster.kubectl("delete", "secret", NAME)
        cluster.kubectl("-n", juicefs.SPACE, "delete", "secret", f"juicefs-{NAME}-secret",
                        "--ignore-not-found")
        cluster.kubectl("delete", "-f", MANIFEST, limit=120)
        cluster.wait("no kubelet knows the driver", lambda: not juicefs.registered(cluster))


# --- parts of steps -------------------------------------------------------------------------------

def registrations(cluster, node):
    """How often its registrar says that kubelet has taken the driver."""
    name = juicefs.driver_pod(cluster, node)["metadata"]["name"]
    log = cluster.kubectl("-n", juicefs.SPACE, "logs", name, "-c", "registrar")
    return log.count('"registered"')


def registered_for_good(cluster):
    """kubelet forgets a replaced socket for a moment before it takes the new one."""
    def twice():
        return all(juicefs.registered(cluster) == juicefs.nodes(cluster) and time.sleep(1.5) is None
                   for _ in range(2))
    cluster.wait("the driver on every node", twice)


def mounts_again(cluster, name):
    cluster.apply([juicefs.user(name, NAME, "node1")])
    cluster.wait(f"pod {name} Ready", lambda: juicefs.ready(cluster, name))
    cluster.kubectl("delete", "pod", name)
