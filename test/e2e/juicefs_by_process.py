# SPDX-License-Identifier: Apache-2.0
"""Static JuiceFS volumes by processes of the driver: no mount pods, no rights in the cluster."""
from paddle_tools.e2e import juicefs
from paddle_tools.e2e.cluster import TOP, expect

WITH = ("redis", "s3")
LEAKS_OF_OTHERS = juicefs.FORMAT_OF_DRIVER
IMAGES = juicefs.IMAGES
NAME = "e2e-by-process"
CACHE = f"/var/jfsCache/{NAME}"
FOLDER = TOP / "config/csi/juicefs/by-process"


def run(cluster):
    with cluster.step("the driver's images on every node"):
        cluster.load("paddle-cache", *IMAGES)
    with cluster.step("kubectl apply -k config/csi/juicefs/by-process"):
        cluster.kubectl("apply", "-k", FOLDER)
        cluster.wait("the driver on every node",
                     lambda: juicefs.registered(cluster) == juicefs.nodes(cluster))
    with cluster.step("a volume that is not formatted, two pods on two nodes"):
        cluster.apply([*juicefs.volume(cluster, NAME, 2, CACHE),
                       juicefs.user("here", NAME, "node1"), juicefs.user("there", NAME, "node2")])
        cluster.wait("both pods Ready", lambda: juicefs.ready(cluster, "here", "there"))
    with cluster.step("written on one node, read on the other; no mount pod; caches on the nodes"):
        juicefs.write(cluster, "here", "first", 32)
        expect(juicefs.checksum(cluster, "here", "first")
               == juicefs.checksum(cluster, "there", "first"), "the pods read different bytes")
        expect(not juicefs.mount_pods(cluster, NAME), "there is a mount pod")
        for node, reader in (("node1", "here"), ("node2", "there")):
            juicefs.wait_cached(cluster, node, CACHE, reader, "first", 30)
    with cluster.step("the pods leave, the mounts with them"):
        cluster.kubectl("delete", "pod", "here", "there")
        for node in ("node1", "node2"):
            cluster.wait(f"no mount is left on {node}",
                         lambda at=node: not juicefs.mounts(cluster, at))
    with cluster.step("kubectl delete -k; kubelets forget the driver"):
        cluster.kubectl("delete", "pvc,secret", NAME)
        cluster.kubectl("delete", "pv", NAME)
        cluster.kubectl("delete", "-k", FOLDER, limit=120)
        cluster.wait("no kubelet knows the driver", lambda: not juicefs.registered(cluster))
