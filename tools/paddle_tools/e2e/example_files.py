# SPDX-License-Identifier: Apache-2.0
"""The files of deploy/ that users apply as examples, and what a cluster without a registry and
without GPUs must have for them: images under the names in the files, and devices."""
import json
import re
from pathlib import Path

from paddle_tools.e2e.cluster import SYSTEM, TOP, Cluster, Objects, expect
from paddle_tools.testbed.layout import PAUSE_IMAGE

FOLDERS = ("examples", "elastic", "heter")
TRAINING = "training-e2e:v1"
# What stands for each image that the files name. None: the cluster does not have it.
IMAGES = {
    "busybox:1.35": "busybox:1.35",
    "nginx": PAUSE_IMAGE,  # runs for ever and has `ls`
    "paddle-dali:v1": None,
    "paddleclas:v1": TRAINING,
    "quay.io/coreos/etcd:v3.5.21": "etcd-e2e:v1",
    "redis:7": "redis-e2e:v1",
    "registry.baidubce.com/kuizhiqing/demo-wide-and-deep:v1": TRAINING,
    "registry.baidubce.com/paddle-operator/demo-deepfm:v1": TRAINING,
    "registry.baidubce.com/paddle-operator/demo-resnet:elastic": TRAINING,
    "registry.baidubce.com/paddle-operator/demo-resnet:v1": TRAINING,
    "registry.baidubce.com/paddle-operator/demo-wide-and-deep:v1": TRAINING,
    "registry.baidubce.com/paddlepaddle/paddle:2.4.0rc0-cpu": TRAINING,
}
NEEDED = ("training-e2e", "etcd-e2e", "redis-e2e")  # of tools/images
DEVICES = ("nvidia.com/gpu", "baidu.com/xpu")
DEVICES_PER_NODE = 4


def all_files() -> dict[str, Path]:
    """{"examples/simple.yaml": path}"""
    return {f"{folder}/{path.name}": path for folder in FOLDERS
            for path in sorted((TOP / "deploy" / folder).glob("*.yaml"))}


def named_images() -> set[str]:
    return {name for path in all_files().values()
            for name in re.findall(r"^\s*(?:- )?image: (\S+)", path.read_text(), re.MULTILINE)}


def load_images(cluster: Cluster) -> None:
    unknown = named_images() - set(IMAGES)
    expect(not unknown, f"files of deploy/ name images that no image of ours stands for: {unknown}")
    cluster.load(*NEEDED)
    for name, ours in IMAGES.items():
        if ours and ours != name:
            cluster.tag_image(ours, name if ":" in name else f"{name}:latest")


def advertise_devices(cluster: Cluster) -> None:
    """Every node has devices that are not there: programs see none and use the CPU."""
    capacity = dict.fromkeys(DEVICES, str(DEVICES_PER_NODE))
    for node in cluster.list("nodes"):
        cluster.kubectl("patch", "node", node["metadata"]["name"], "--subresource=status",
                        "--type=merge", "-p", json.dumps({"status": {"capacity": capacity}}))

    def allocatable() -> bool:
        return all(node["status"]["allocatable"].get(device) == str(DEVICES_PER_NODE)
                   for node in cluster.list("nodes") for device in DEVICES)
    cluster.wait("devices are allocatable", allocatable)


def withdraw_devices(cluster: Cluster) -> None:
    changes = [{"op": "remove", "path": f"/status/{field}/{device.replace('/', '~1')}"}
               for field in ("capacity", "allocatable") for device in DEVICES]
    for node in cluster.list("nodes"):
        cluster.kubectl("patch", "node", node["metadata"]["name"], "--subresource=status",
                        "--type=json", "-p", json.dumps(changes))


def apply(cluster: Cluster, file: Path) -> Objects:
    """Applies a file as it is, in the namespace where the managers look; returns its objects."""
    made = json.loads(cluster.kubectl("-n", SYSTEM, "apply", "-o", "json", "-f", file))
    return made["items"] if made["kind"] == "List" else [made]
