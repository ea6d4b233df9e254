# SPDX-License-Identifier: Apache-2.0
"""The values of the chart: one table gives values.yaml, values.schema.json and the README's table.

Defaults that deploy/ has are read from there, so that the chart's cannot differ from them.
"""
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle_tools.chart import manifests
from paddle_tools.json_types import Json

NAMESPACE = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
HOST = r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):[0-9]{1,5}"
IMAGE: Json = {
    "type": "string", "maxLength": 500,
    "pattern": r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?(:[0-9]{1,5}/[a-z0-9][a-z0-9._-]*)?"
               r"(/[a-z0-9][a-z0-9._-]*)*(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?"
               r"(@sha256:[0-9a-f]{64})?$"}
QUANTITY: Json = {"type": ["string", "integer"], "minimum": 0,
                  "pattern": r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$"}
AMOUNTS: Json = {"type": "object", "additionalProperties": QUANTITY}
RESOURCES: Json = {"type": "object", "additionalProperties": False,
                   "properties": {"requests": AMOUNTS, "limits": AMOUNTS}}
# What the chart sets itself must not be set a second time.
ARGUMENTS: Json = {
    "type": "array",
    "items": {"type": "string", "pattern": r"^--[a-zA-Z][a-zA-Z-]*(=.*)?$",
              "not": {"pattern": r"^--(namespace|controllers|leader-elect)(=|$)"}}}
SWITCH: Json = {"type": "boolean"}
TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
OBJECTS: Json = {"type": "array", "items": {"type": "object"}}


@dataclass(frozen=True)
class Value:
    """One value: its place ("juicefs.enabled"), default, schema, and a sentence for users."""
    path: str
    default: Any
    schema: Json
    text: str


def table(deploy: Path) -> list[Value]:
    """All values, in the order of values.yaml."""
    return [*_general(deploy), *_managers(deploy), *_optional(deploy)]


def _manager(deploy: Path, name: str) -> Json:
    file = "v1/operator.yaml" if name == "controller" else "extensions/controllers.yaml"
    found = manifests.only(manifests.read(deploy, file), "Deployment", f"paddle-{name}-manager")
    return manifests.container(found, "manager")


def _general(deploy: Path) -> Iterator[Value]:
    manager = _manager(deploy, "controller")
    yield Value("image", manager["image"], IMAGE, "Image of the managers.")
    yield Value("controllernamespace", "paddle-system",
                {"type": "string", "pattern": f"^{NAMESPACE}$"},
                "Namespace of the managers. The chart creates it, unless it is the release's own.")
    yield Value("jobnamespace", "paddle-system",
                {"type": "string", "pattern": f"^({NAMESPACE})?$"},
                "Namespace whose jobs and sample sets the managers see. It must exist, unless it "
                'is the managers\' own. `""` means all namespaces, with rights to match.')
    yield Value("registry", "",
                {"type": "string",
                 "pattern": r"^([a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9._-]+)*)?$"},
                "Registry, with a path if it has one, that is put before every image whose name "
                "has no `/`.")
    yield Value("imagePullPolicy", manager["imagePullPolicy"],
                {"enum": ["Always", "IfNotPresent", "Never"]}, "Pull policy of the managers.")
    yield Value("imagePullSecrets", [],
                {"type": "array", "items": {"type": "object", "required": ["name"],
                                            "additionalProperties": False,
                                            "properties": {"name": {"type": "string",
                                                                    "minLength": 1}}}},
                "Secrets of a registry, as `[{name: NAME}]`, in the managers' namespace.")
    yield Value("keepOnUninstall", True, SWITCH,
                "`helm uninstall` leaves the definitions and the managers' namespace, and with "
                "them all jobs and sample sets. With `false` **it deletes every one of them**.")
    yield Value("crds.enabled", True, SWITCH,
                "The definitions of PaddleJob, SampleSet and SampleJob. They are templates, so "
                "`helm upgrade` upgrades them.")


def _managers(deploy: Path) -> Iterator[Value]:
    yield Value("replicas", 1, {"type": "integer", "minimum": 1, "maximum": 10},
                "Replicas of each manager. One works, the others wait for its lease.")
    yield Value("nodeSelector", {}, TEXTS, "Node selector of the managers.")
    yield Value("tolerations", [], OBJECTS, "Tolerations of the managers.")
    yield Value("affinity", {}, {"type": "object"}, "Affinity of the managers.")
    yield Value("priorityClassName", "", {"type": "string"}, "Priority class of the managers.")
    for value, name in (("paddlejob", "controller"), ("sampleset", "sampleset"),
                        ("samplejob", "samplejob")):
        yield Value(f"{value}.args", [], ARGUMENTS,
                    f"More arguments of the manager `paddle-{name}-manager`, as "
                    "`[--workers=8]`.")
        yield Value(f"{value}.resources", _manager(deploy, name)["resources"], RESOURCES,
                    f"Resources of `paddle-{name}-manager`.")


def _optional(deploy: Path) -> Iterator[Value]:
    sets = _manager(deploy, "sampleset")
    yield Value("extensions.enabled", True, SWITCH, "The managers of SampleSets and SampleJobs.")
    yield Value("extensions.runtimeImage", manifests.variable(sets, "RUNTIME_IMAGE"), IMAGE,
                "Image of cache runtimes.")
    yield Value("extensions.juicefsRuntimeImage",
                manifests.variable(sets, "JUICEFS_RUNTIME_IMAGE"), IMAGE,
                "Image of the cache runtimes of JuiceFS.")
    yield Value("volcano.enabled", False, SWITCH,
                "Jobs are scheduled as gangs by Volcano, which must be installed.")
    yield Value("elastic.etcdServer", "", {"type": "string", "pattern": f"^({HOST}(,{HOST})*)?$"},
                "etcd for elastic jobs, as `HOST:PORT` or a list with commas.")
    yield Value("elastic.etcd.enabled", False, SWITCH,
                "An etcd to try elastic jobs with: one member, nothing kept. Without `etcdServer` "
                "the managers use it.")
    etcd = manifests.only(manifests.read(deploy, "elastic/etcd.yaml"), "Deployment",
                          "paddle-elastic-etcd")
    yield Value("elastic.etcd.image", manifests.container(etcd, "etcd")["image"], IMAGE,
                "Its image.")
    yield Value("policies.enabled", False, SWITCH,
                "Admission policies that keep tenants from the managers' rights and from objects "
                "of SampleSets; from Kubernetes 1.30 on.")
    yield Value("warnings.enabled", False, SWITCH,
                "`kubectl apply` warns of values in PaddleJobs that have no effect; from "
                "Kubernetes 1.30 on.")
    yield from _juicefs(deploy)
    yield Value("test.image", "busybox:1.35", IMAGE,
                "Image of the pods of `helm test`; it needs a shell.")


def _juicefs(deploy: Path) -> Iterator[Value]:
    driver = manifests.only(manifests.read(deploy, "csi/juicefs.yaml"), "DaemonSet",
                            "juicefs-csi-node")
    plugin = manifests.container(driver, "juicefs-plugin")
    registrar = manifests.container(driver, "registrar")
    yield Value("juicefs.enabled", False, SWITCH,
                "The CSI driver of JuiceFS, which SampleSets need. Not beside another installation "
                "of it.")
    yield Value("juicefs.kubeletDirectory", manifests.variable(registrar, "KUBELET_DIR"),
                {"type": "string", "pattern": r"^(/[A-Za-z0-9._-]+)+$"},
                "kubelet's `--root-dir`.")
    yield Value("juicefs.driverImage", plugin["image"], IMAGE, "Image of the driver.")
    yield Value("juicefs.mountImage", manifests.variable(plugin, "JUICEFS_CE_MOUNT_IMAGE"), IMAGE,
                "Image of its mount pods. The driver reads the version of JuiceFS in the tag.")
    yield Value("juicefs.registrarImage", registrar["image"], IMAGE,
                "Image of the container that makes the driver known to kubelet.")


# --- what is written ------------------------------------------------------------------------------

def values_yaml(values: list[Value]) -> str:
    """values.yaml: every value with its sentence above it."""
    lines = ["# SPDX-License-Identifier: Apache-2.0",
             "# Made by tools/chart: change tools/paddle_tools/chart/values.py or config/."]
    last: list[str] = []
    for each in values:
        *groups, name = each.path.split(".")
        for depth, group in enumerate(groups):
            if last[:depth + 1] != groups[:depth + 1]:
                lines += ["", f"{'  ' * depth}{group}:"] if depth == 0 else [
                    f"{'  ' * depth}{group}:"]
        if not groups:
            lines.append("")
        indent = "  " * len(groups)
        lines += [f"{indent}# {line}" for line in _wrapped(each.text, 96 - len(indent))]
        lines += _yaml(name, each.default, indent)
        last = groups
    return "\n".join(lines) + "\n"


def _yaml(name: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, dict) and value:
        return [f"{indent}{name}:",
                *(line for key, each in value.items() for line in _yaml(key, each, indent + "  "))]
    plain = isinstance(value, str) and value and not value[0].isdigit() and ": " not in value
    return [f"{indent}{name}: {value if plain else json.dumps(value)}"]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def schema_json(values: list[Value]) -> str:
    """values.schema.json: nothing but the values of the table, each with its schema."""
    # `global` is what Helm gives to every chart that another chart depends on.
    root: Json = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                  "title": "Values of the chart paddle-operator", "additionalProperties": False,
                  "properties": {"global": {"type": "object"}}}
    for each in values:
        *groups, name = each.path.split(".")
        at = root
        for group in groups:
            at = at["properties"].setdefault(
                group, {"type": "object", "additionalProperties": False, "properties": {}})
        at["properties"][name] = {"description": each.text, **each.schema}
    return json.dumps(root, indent=2) + "\n"
