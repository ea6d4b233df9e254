# SPDX-License-Identifier: Apache-2.0
"""The optional part `kwok=N`: N nodes that only pretend to run pods, beside the real ones. They are
named kwok-<i>, labelled type=kwok and tainted, so that only pods with a toleration run there.

A pod on them ends after the time in its annotation RUN_FOR ("3s"), in the phase of END_PHASE or
Succeeded; pods of Jobs end at once. A pod whose annotation INIT_UNTIL names another annotation gets
an address and stays in its first init container until it has that one.
"""
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.testbed.process import write

if TYPE_CHECKING:
    from paddle_tools.testbed.host import Host

PROGRAMS = ["kwok"]
RUN_FOR, END_PHASE = "testbed/run-for", "testbed/end-phase"
INIT_UNTIL = "testbed/init-until"
MARK = "kwok.x-k8s.io/node"
READY = "pod/fast/pod-ready"
STAGES = ("node/fast/node-initialize", "node/heartbeat-with-lease/node-heartbeat-with-lease",
          "pod/fast/pod-complete", "pod/fast/pod-delete")

_STATUS = """{{ $now := Now }}
{{ $phase := or (index .metadata.annotations "END_PHASE") "Succeeded" }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: {{ if eq $phase "Failed" }}1{{ else }}0{{ end }}
      reason: {{ if eq $phase "Failed" }}Error{{ else }}Completed{{ end }}
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
phase: {{ $phase }}
""".replace("END_PHASE", END_PHASE)

_INITIALIZING = """{{ $now := Now }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
{{ with PodIPsWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ index . 0 | Quote }}
podIPs:
- ip: {{ index . 0 | Quote }}
{{ end }}
phase: Pending
startTime: {{ $now | Quote }}
"""
_INITIALIZED = """{{ $now := Now }}
conditions:
{{ range $type := list "Initialized" "Ready" "ContainersReady" }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ $type }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ $now | Quote }}
      finishedAt: {{ $now | Quote }}
{{ end }}
phase: Running
"""


def _annotation(name: str, operator: str) -> Json:
    return {"key": f'.metadata.annotations["{name}"]', "operator": operator}


def _stage(name: str, phase: str, expressions: list[Json], following: str, **more: object) -> Json:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [
                {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                {"key": ".status.phase", "operator": "In", "values": [phase]}, *expressions]},
            "next": {"statusTemplate": following}, **more}}


def initializing_stages() -> list[Json]:
    """Two in the place of kwok's one."""
    awaited = f'.metadata.annotations | .[.["{INIT_UNTIL}"] // ""]'
    waits = _annotation(INIT_UNTIL, "Exists")
    return [_stage("pod-initializes", "Pending",
                   [waits, {"key": ".status.podIP", "operator": "DoesNotExist"}], _INITIALIZING),
            _stage("pod-initialized", "Pending",
                   [waits, {"key": ".status.podIP", "operator": "Exists"},
                    {"key": awaited, "operator": "Exists"}], _INITIALIZED)]


def ready_stage(stock: str) -> str:
    """kwok's own, only for pods that do not wait. JSON is YAML."""
    head = "    matchExpressions:\n"
    if stock.count(head) != 1:
        raise ToolError("the stage that came with kwok is not the one we know")
    further = json.dumps(_annotation(INIT_UNTIL, "DoesNotExist"))
    return stock.replace(head, f"{head}    - {further}\n")


def ending_stage() -> Json:
    return _stage("pod-ends", "Running", [_annotation(RUN_FOR, "Exists")], _STATUS, delay={
        "durationMilliseconds": 0,
        "durationFrom": {"expressionFrom": f'.metadata.annotations["{RUN_FOR}"]'}})


def options() -> Json:
    """All four: one that is left out counts as zero, which is refused."""
    return {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration",
            "options": {"podPlayStageParallelism": 4, "nodePlayStageParallelism": 4,
                        "nodeLeaseParallelism": 4, "podsOnNodeSyncParallelism": 4}}


def configuration(stages: Iterable[str]) -> str:
    """kwok has no stages of its own: they come with its source."""
    ours = [json.dumps(each) for each in (options(), ending_stage(), *initializing_stages())]
    return "\n---\n".join([*ours, *(each.strip() for each in stages)]) + "\n"


def node(number: int) -> Json:
    amounts = {"cpu": "32", "memory": "256Gi", "pods": "110"}
    name = f"kwok-{number}"
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {MARK: "fake"},
                         "labels": {"type": "kwok", "kubernetes.io/hostname": name,
                                    "kubernetes.io/os": "linux"}},
            "spec": {"taints": [{"key": MARK, "value": "fake", "effect": "NoSchedule"}]},
            "status": {"capacity": amounts, "allocatable": amounts}}


def start(host: "Host", argument: str) -> None:
    layout = host.layout
    shared = Path(layout.programs["kwok"]).parents[1] / "share/kustomize/stage"
    config = layout.config / "kwok.yaml"
    ready = ready_stage((shared / f"{READY}.yaml").read_text())
    others = ((shared / f"{each}.yaml").read_text() for each in STAGES)
    write(config, configuration([ready, *others]))
    host.start("kwok", f"--kubeconfig={layout.config}/bed.kubeconfig", f"--config={config}",
               f"--manage-nodes-with-annotation-selector={MARK}=fake",
               "--node-lease-duration-seconds=40", "--cidr=10.200.0.0/16")
    names = set()
    for number in range(int(argument)):
        wanted = node(number)
        names.add(wanted["metadata"]["name"])
        status, text = host.api.call("POST", "/api/v1/nodes", wanted)
        if status not in (201, 409):
            raise ToolError(f"the API server refused a false node: {text[:300]}")
    host.wait("the false nodes", lambda: host.api.ready_nodes() >= names)
