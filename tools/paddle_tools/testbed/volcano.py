# SPDX-License-Identifier: Apache-2.0
"""The optional part `volcano`: gang scheduling for pods with schedulerName volcano. Its scheduler
and its controllers are processes on the cluster's host; there are no admission webhooks."""
from pathlib import Path
from typing import TYPE_CHECKING

from paddle_tools.testbed.layout import HOST
from paddle_tools.testbed.process import run, write

if TYPE_CHECKING:
    from paddle_tools.testbed.host import Host

PROGRAMS = ["vc-scheduler", "vc-controller-manager"]

_CONF = """actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""


def _is_established(host: "Host", plural: str) -> bool:
    """Not `kubectl wait`, which fails on a definition that has no conditions yet."""
    found = host.api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                         f"{plural}.scheduling.volcano.sh") or {}
    return any(each["type"] == "Established" and each["status"] == "True"
               for each in found.get("status", {}).get("conditions") or [])


def start(host: "Host", _: str) -> None:
    layout = host.layout
    login = layout.config / "bed.kubeconfig"
    kubectl = [layout.programs["kubectl"], "--kubeconfig", login]
    definitions = Path(layout.programs["vc-scheduler"]).parents[1] / "share/config/crd"
    run(*kubectl, "apply", "--server-side", "-f", definitions / "volcano/bases",
        "-f", definitions / "jobflow/bases")
    host.wait("Volcano's definitions", lambda: all(
        _is_established(host, name) for name in ("queues", "podgroups")))
    run(*kubectl, "create", "namespace", "volcano-system")
    conf = layout.config / "volcano.conf"
    write(conf, _CONF)
    host.start("vc-scheduler", f"--kubeconfig={login}", f"--scheduler-conf={conf}",
               "--leader-elect=false", "--schedule-period=200ms",
               f"--listen-address={HOST}:18080", "--enable-healthz=false", "--cache-dumper=false")
    host.start("vc-controller-manager", f"--kubeconfig={login}", "--leader-elect=false",
               "--enable-healthz=false")
    queue = "/apis/scheduling.volcano.sh/v1beta1/queues/default"
    host.wait("Volcano's default queue",
              lambda: (host.api.get(queue) or {}).get("status", {}).get("state") == "Open")
