# SPDX-License-Identifier: Apache-2.0
"""The optional part `juicefs`: the CSI driver, installed as a user does it, from outside: images of
this repository, and deploy/csi/juicefs.yaml with the directory of the cluster's kubelets."""
import json
import subprocess
import time

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.testbed import namespace_exec
from paddle_tools.testbed.layout import KUBELET, Layout, node_name
from paddle_tools.testbed.process import run

IMAGES = ("paddle-cache", "juicefs-csi-driver", "juicefs-mount")
DRIVER = "csi.juicefs.com"


def build_images() -> None:
    if subprocess.run([TOP / "tools" / "images", "build", *IMAGES], check=False,
                      stdin=subprocess.DEVNULL).returncode != 0:
        raise ToolError("the images of the JuiceFS CSI driver could not be built, see above")


def install(layout: Layout, limit: float = 120) -> None:
    """Until every node has the driver."""
    namespace_exec.load_images(layout, [TOP / "build/images" / f"{each}.tar" for each in IMAGES])
    kubectl = [layout.programs["kubectl"], "--kubeconfig", layout.kubeconfig]
    manifest = (TOP / "deploy/csi/juicefs.yaml").read_text().replace(KUBELET, layout.kubelet)
    run(*kubectl, "apply", "-f", "-", stdin=manifest)
    end = time.monotonic() + limit
    wanted = set(map(node_name, layout.node_numbers()))
    while True:
        listed = json.loads(run(*kubectl, "get", "csinodes", "-o", "json"))["items"]
        found = {node["metadata"]["name"] for node in listed
                 for driver in node["spec"].get("drivers") or [] if driver["name"] == DRIVER}
        if found >= wanted:
            return
        if time.monotonic() > end:
            pods = run(*kubectl, "-n", "juicefs-csi", "get", "pods", "-o", "wide")
            raise ToolError("the JuiceFS CSI driver did not register on every node within "
                            f"{limit} s:\n{pods}")
        time.sleep(0.2)
