# SPDX-License-Identifier: Apache-2.0
"""`testbed up`: installs what is missing, starts the supervisor, and shows its progress."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS
from paddle_tools.testbed import (
    cgroups,
    control_socket,
    juicefs,
    network,
    optional_parts,
    supervisor,
)
from paddle_tools.testbed.layout import Layout, load
from paddle_tools.testbed.process import SYSTEM_PATH

# What every cluster needs.
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet",
            "kube-proxy", "kubectl", "coredns", "containerd", "runc", "cni-plugins", "busybox")


def log(text: str) -> None:
    print(f"testbed: {text}", flush=True)


def unsupported_reason() -> str | None:
    """Why a cluster cannot be made here; None when it can."""
    if os.geteuid() != 0:
        return "a cluster needs root: run it with sudo"
    if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False,
                      capture_output=True).returncode != 0:
        return "this machine does not let root make namespaces (is it a container?)"
    if not cgroups.hierarchies():
        return f"there are no control groups at {cgroups.ROOT}"
    return None


def install_programs(layout: Layout) -> Layout:
    if missing := [each for each in ("iptables", "ip", "openssl",
                                     *(["ipset"] if layout.enforces_policies else []))
                   if not shutil.which(each, path=SYSTEM_PATH)]:
        log(f"{', '.join(missing)}: missing")
        run_or_fail([TOOLS / "bootstrap"])
    names = [*PROGRAMS, *(name for part in layout.parts
                          for name in optional_parts.PROGRAMS.get(part, ()))]
    run_or_fail([TOOLS / "components", "install", *names])
    found = subprocess.run([TOOLS / "components", "path", *names], check=True, text=True,
                           capture_output=True).stdout.split()
    return replace(layout, programs=dict(zip(names, found, strict=True)))


def run_or_fail(argv: Sequence[str | Path]) -> None:
    if subprocess.run(argv, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        raise ToolError(f"{Path(argv[0]).name} failed; the reason is above")


def prepare(layout: Layout) -> Layout:
    """Everything that may take minutes, once. Returns the layout with the paths of its programs."""
    if reason := unsupported_reason():
        raise ToolError(reason)
    layout = install_programs(layout)
    if "juicefs" in layout.parts:
        juicefs.build_images()
    return layout


def up(layout: Layout, foreground: bool) -> int:
    layout = prepare(layout)
    start = time.monotonic()
    lock = supervisor.lock(layout.name)
    if lock is None:
        return check_running(layout)
    supervisor.remove_leftovers(layout)
    network.need_bridge_filter()
    ours, theirs = os.pipe()
    if foreground:
        listener = threading.Thread(target=follow_progress_or_stop, args=(ours, layout, start))
        # Started after the clone: another thread could have a lock that the child needs.
        stopped = supervisor.run_cluster(lock, layout, theirs, started=listener.start)
        listener.join()
        return 0 if stopped else 1
    pid = supervisor.start_in_background(lock, layout, theirs)
    os.close(theirs)
    os.close(lock)
    try:
        return follow_progress(ours, layout, start)
    except BaseException:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
        raise


def follow_progress(progress: int, layout: Layout, start: float) -> int:
    """Shows the progress, and installs what is installed from outside; returns the exit code."""
    with os.fdopen(progress) as lines:
        for line in lines:
            event = json.loads(line)
            if "message" in event:
                log(event["message"])
            elif "failure" in event:
                print(f"testbed: {event['failure']}", file=sys.stderr)
                return 1
            elif "ready" in event:
                install_from_outside(layout)
                log(f"cluster '{layout.name}' is up after {time.monotonic() - start:.1f} s; "
                    f"KUBECONFIG={layout.kubeconfig}")
                return 0
    print(f"testbed: the cluster died at its start; its log is {layout.logs}/host.log",
          file=sys.stderr)
    return 1


def follow_progress_or_stop(*args: Any) -> None:
    """In a thread beside the supervisor, which a failure stops."""
    try:
        follow_progress(*args)
    except (ToolError, OSError) as failure:
        print(f"testbed: {failure}", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGTERM)


def install_from_outside(layout: Layout) -> None:
    if "juicefs" in layout.parts:
        start = time.monotonic()
        juicefs.install(layout)
        log(f"juicefs: {time.monotonic() - start:.1f} s")


def check_running(wanted: Layout) -> int:
    """A running cluster is accepted if it has what was asked for."""
    with contextlib.suppress(OSError):
        found = load(wanted.state)
        if found.nodes != wanted.nodes or not found.parts.items() >= wanted.parts.items() \
                or found.kubelet != wanted.kubelet:
            raise ToolError(f"cluster '{wanted.name}' is up with {found.nodes} nodes, the parts "
                            f"({', '.join(found.parts)}) and kubelets in {found.kubelet}; end it "
                            f"first: tools/testbed --name {wanted.name} down")
    try:
        control_socket.send_request(wanted, do="status")
    except ToolError:
        raise ToolError(f"cluster '{wanted.name}' is about to start or to end; try again") from None
    log(f"cluster '{wanted.name}' is up already")
    return 0
