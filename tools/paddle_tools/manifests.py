# SPDX-License-Identifier: Apache-2.0
"""Writes the manifests of deploy/ from config/, with the kustomize of the pinned kubectl, and the
base image of config/images into the Containerfiles.

    tools/manifests            writes them
    tools/manifests --check    fails when one differs, or when an overlay cannot be built

The definitions of the resources (deploy/*/crd.yaml) come from src/api: `make crds`. The Helm
chart and deploy/install.yaml are made of these files: tools/chart, which is the last step here.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from paddle_tools.chart import main as chart
from paddle_tools.errors import ToolError
from paddle_tools.images import names
from paddle_tools.paths import TOOLS, TOP

# File beneath deploy/ -> folder beneath config/.
FILES = {
    "v1/operator.yaml": "operator",
    "v1/warnings.yaml": "warnings",
    "v1/policies.yaml": "policies",
    "v1beta1/operator.yaml": "overlays/v1beta1",
    "extensions/controllers.yaml": "extensions",
}
# For `kubectl apply -k`; no file is kept of them.
OVERLAYS = ("overlays/volcano", "overlays/elastic", "overlays/all-namespaces",
            "csi/juicefs/by-process")
HEADER = "# Made by tools/manifests from config/{folder}: change it there.\n"
OLD = "overlays/v1beta1"
NOT_RUN = "# No server that is old enough to need this file has run with it.\n"


def kubectl() -> str:
    """The path of the pinned kubectl, which is installed first."""
    tool = TOOLS / "components"
    done = subprocess.run([tool, "install", "kubectl"], check=False)
    if done.returncode != 0:
        raise ToolError("kubectl could not be installed; the reason is above")
    return subprocess.run([tool, "path", "kubectl"], check=True, capture_output=True,
                          text=True).stdout.strip()


def built(program: str, folder: str, config: Path = TOP / "config") -> str:
    """What `kubectl kustomize` gives for a folder of config/."""
    done = subprocess.run([program, "kustomize", str(config / folder)], check=False,
                          capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        raise ToolError(f"config/{folder} cannot be built: {done.stderr.strip()}")
    return HEADER.format(folder=folder) + (NOT_RUN if folder == OLD else "") + done.stdout


def folders() -> dict[str, str]:
    """FILES, and for each CSI driver in config/csi a file of the same name in deploy/csi."""
    others = sorted((TOP / "config" / "csi").glob("*/kustomization.yaml"))
    return FILES | {f"csi/{each.parent.name}.yaml": f"csi/{each.parent.name}" for each in others}


def write(program: str) -> None:
    for name, folder in folders().items():
        path = TOP / "deploy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(built(program, folder))
        print(f"deploy/{name} {path.stat().st_size} bytes")
    for path, text in containerfiles(TOP).items():
        path.write_text(text)
    chart.GENERATOR.write(TOP)


def check(program: str) -> None:
    for folder in OVERLAYS:
        built(program, folder)
    for name, folder in folders().items():
        path = TOP / "deploy" / name
        if not path.exists() or path.read_text() != built(program, folder):
            raise ToolError(f"deploy/{name} differs from config/{folder}; run: tools/manifests")
    for path, text in containerfiles(TOP).items():
        if path.read_text() != text:
            raise ToolError(f"{path.relative_to(TOP)} has another base than {names.FILE}; run: "
                            "tools/manifests")
    check_kubelet_directory(program, "csi/juicefs")
    check_choices_together(program)
    check_images_in_one_place(program)


def containerfiles(top: Path) -> dict[Path, str]:
    """The Containerfiles as they are with the base of config/images."""
    base = names.load(top)[names.BASE].reference
    return {path: re.sub(r"^ARG BASE=.*$", f"ARG BASE={base}", path.read_text(), flags=re.M)
            for path in sorted((top / "deploy/images").glob("*/Containerfile"))}


def check_images_in_one_place(program: str) -> None:
    """A registry and a digest in config/images reach every place that runs an image."""
    with tempfile.TemporaryDirectory(prefix="paddle-manifests.") as scratch:
        config = Path(shutil.copytree(TOP / "config", Path(scratch) / "config"))
        file = Path(scratch) / names.FILE
        file.write_text(re.sub(r"^- name: (?!debian)(\S+)\n",
                               r"- name: \1\n  newName: registry.example/\1\n"
                               rf"  digest: sha256:{'5' * 64}\n", file.read_text(), flags=re.M))
        images = names.load(Path(scratch))
        made = "".join(built(program, folder, config)
                       for folder in (*folders().values(), *OVERLAYS))
    del images[names.BASE]  # in Containerfiles only
    for name, image in images.items():
        if image.reference not in made:
            raise ToolError(f"{names.FILE}: registry and digest of {name} reach no manifest")
        if found := re.search(rf"^.*(?:image|value): {name}(?:[:@].*)?$", made, re.M):
            raise ToolError(f"{names.FILE} does not reach '{found[0].strip()}'")


def check_choices_together(program: str) -> None:
    """The kustomization that the documents advise can be built: all components and a registry."""
    choices = sorted(each.parent.name
                     for each in TOP.glob("config/components/*/kustomization.yaml"))
    images = ("paddle-operator", "paddle-cache", "paddle-cache-juicefs")
    text = ["apiVersion: kustomize.config.k8s.io/v1beta1", "kind: Kustomization",
            "resources: [config/operator, config/extensions]",
            f"components: [{', '.join('config/components/' + each for each in choices)}]",
            "images:",
            *(f"- {{name: {each}, newName: registry.example/{each}}}" for each in images)]
    with tempfile.TemporaryDirectory(prefix="paddle-manifests.") as scratch:
        shutil.copytree(TOP / "config", Path(scratch) / "config")
        (Path(scratch) / "kustomization.yaml").write_text("\n".join(text) + "\n")
        made = built(program, ".", Path(scratch))
    for wanted in ("--scheduling=volcano", "--etcd-server=",
                   *(f"registry.example/{each}:" for each in images)):
        if wanted not in made:
            raise ToolError(f"with all of config/components together '{wanted}' is missing")
    for unwanted in ("--namespace=", "image: paddle-", "value: paddle-cache"):
        if unwanted in made:
            raise ToolError(f"with all of config/components together '{unwanted}' is left")
    for name in ("manager", "sampleset", "samplejob"):
        role = next(each for each in made.split("\n---\n")
                    if "kind: ClusterRole\n" in each and f"name: paddle-{name}-role\n" in each)
        if "rules:" not in role:
            raise ToolError(f"with all of config/components together paddle-{name}-role has no "
                            "rules")


def check_kubelet_directory(program: str, folder: str) -> None:
    """The one value in config/ and the documents' sed over deploy/ have the same effect."""
    usual, other = "/var/lib/kubelet", "/data/kubelet"
    with tempfile.TemporaryDirectory(prefix="paddle-manifests.") as scratch:
        config = Path(shutil.copytree(TOP / "config", Path(scratch) / "config"))
        file = config / folder / "node" / "config.yaml"
        file.write_text(file.read_text().replace(f"kubelet-dir: {usual}\n",
                                                 f"kubelet-dir: {other}\n"))
        if built(program, folder, config) != built(program, folder).replace(usual, other):
            raise ToolError(f"config/{folder}: kubelet-dir does not reach every place that names "
                            f"{usual}; see its replacements")


def main(argv: list[str]) -> int:
    try:
        if argv == []:
            write(kubectl())
        elif argv == ["--check"]:
            check(kubectl())
        else:
            print(__doc__, file=sys.stdout if argv == ["--help"] else sys.stderr)
            return 0 if argv == ["--help"] else 2
    except ToolError as failure:
        print(f"manifests: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
