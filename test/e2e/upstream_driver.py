# SPDX-License-Identifier: Apache-2.0
"""The tutorial's CSI command: JuiceFS's own manifest, as it is, beside our operator.

The manifest is that of the driver's module; our images are loaded under the names it uses. Driver
(of the module's version; the manifest names the one before) and mount are our builds; sidecars and
dashboard are stand-ins (csi_sidecar.sh).
"""
import json
import re
from pathlib import Path

from paddle_tools import components
from paddle_tools.e2e import installation, jobs, juicefs, sample_sets
from paddle_tools.e2e.cluster import SYSTEM, TOOLS, TOP, expect, testbed
from paddle_tools.images import definitions

MAKES_CLUSTERS = True
COMPONENTS = ("juicefs-csi-driver",)
IMAGES = (*sample_sets.IMAGES, "csi-sidecar-e2e")
NAME = "e2e-upstream"
DRIVER_IMAGE = definitions.load(TOP)["juicefs-csi-driver"]["reference"]
MODULE = f"github.com/juicedata/juicefs-csi-driver@{DRIVER_IMAGE.partition(':')[2]}"
MOUNT = "juicedata/mount:ce-nightly"  # the driver's own choice when its manifest has none
SET = "upstream"
SPACE = "kube-system"  # of upstream's manifest


def run(scenario_run):
    manifest = module_directory() / "deploy/k8s.yaml"
    try:
        with scenario_run.step("a cluster whose nodes have an /etc of their own"):
            testbed(NAME, "down")
            testbed(NAME, "up", "--with", ",".join(sample_sets.WITH))
            cluster = scenario_run.cluster(NAME)
            for node in juicefs.nodes(cluster):  # its mount pods make /etc/updatedb.conf on nodes
                cluster.on(node, "sh", "-c", "mkdir -p /var/etc/upper /var/etc/work && mount -t "
                           "overlay -o lowerdir=/etc,upperdir=/var/etc/upper,workdir=/var/etc/work "
                           "overlay /etc")
        installation.install(cluster)
        installs(cluster, manifest)
        serves(cluster)
    finally:
        testbed(NAME, "down", limit=600)


def module_directory():
    """Of the driver's sources, as its go.sum has them."""
    go = Path(components.program("go", components.find_entry("go")))
    done = components.run([go, "mod", "download", "-json", MODULE],
                          env=components.go_environment(False),
                          cwd=TOOLS / "components.d/juicefs-csi-driver")
    return Path(json.loads(done.stdout)["Dir"])


def installs(cluster, manifest):
    with cluster.step("images under the names of upstream's manifest"):
        cluster.load(*IMAGES)
        for image in sorted(set(re.findall(r"image: (\S+)", manifest.read_text()))):
            ours = DRIVER_IMAGE if "/juicefs-csi-driver:" in image \
                else "csi-sidecar-e2e:v1"
            cluster.tag_image(ours, image)
            cluster.note(f"{image}: {ours}")
        cluster.tag_image(juicefs.SHELL, MOUNT)
    with cluster.step("kubectl apply -f k8s.yaml: all of it runs, kubelets know it"):
        cluster.kubectl("apply", "-f", manifest)
        sample_sets.wait_for_driver(cluster)
        for kind, name in (("statefulset", "juicefs-csi-controller"),
                           ("daemonset", "juicefs-csi-node")):
            cluster.kubectl("-n", SPACE, "rollout", "status", f"{kind}/{name}",
                            "--timeout=120s", limit=150)
        cluster.note(cluster.kubectl("-n", SPACE, "get", "pods", "-l",
                                     "app.kubernetes.io/name=juicefs-csi-driver"))


def serves(cluster):
    with sample_sets.secret_leak_check(cluster):
        with cluster.step("a set of two partitions is Ready"):
            wanted = sample_sets.begin_with_driver(cluster, SET, 1, count=50, partitions=2)
            for mount in sample_sets.clients(cluster, SET):
                container = mount["spec"]["containers"][0]
                cluster.note(f"{container['image']} {json.dumps(container['resources'])}")
                expect(container["image"] == MOUNT, f"a mount pod runs {container['image']}")
        with cluster.step("two workers beside it read every byte"):
            cluster.apply([sample_sets.reader("reads", SET, 2)], SYSTEM)
            places = sample_sets.labelled(cluster, SET)
            for worker in range(2):
                sample_sets.read_all(cluster, "reads", wanted, worker=worker)
                node = jobs.pods(cluster, "reads")[f"reads-worker-{worker}"]["spec"]["nodeName"]
                expect(places.get(node) == worker, f"worker {worker} is on {node}, not {places}")
            cluster.wait_phase("pdj", "reads", "Completed", SYSTEM)
            jobs.delete(cluster, "reads")
        with cluster.step("deleted; nothing of the set is left"):
            sample_sets.end(cluster, SET)
