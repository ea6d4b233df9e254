# SPDX-License-Identifier: Apache-2.0
"""`testbed up`: what must be there, the keeper, and waiting for its word."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

from paddle_tools.paths import TOOLS
from paddle_tools.testbed import cgroups, juicefs, network
from paddle_tools.testbed import control_socket as control
from paddle_tools.testbed import parts as extras
from paddle_tools.testbed import supervisor as keeper
from paddle_tools.testbed.layout import Failure, load
from paddle_tools.testbed.process import SYSTEM_PATH

# Of every cluster.
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet",
            "kube-proxy", "kubectl", "coredns", "containerd", "runc", "cni-plugins", "busybox")


def say(text):
    print(f"testbed: {text}", flush=True)


def why_not():
    """What forbids it here, or nothing."""
    if os.geteuid() != 0:
        return "a cluster needs root: run it with sudo"
    if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False,
                      capture_output=True).returncode != 0:
        return "this machine does not let root make namespaces (is it a container?)"
    if not cgroups.hierarchies():
        return f"there are no control groups at {cgroups.ROOT}"
    return None


def install(layout):
    if missing := [each for each in ("iptables", "ip", "openssl",
                                     *(["ipset"] if layout.policies else []))
                   if not shutil.which(each, path=SYSTEM_PATH)]:
        say(f"{', '.join(missing)}: missing")
        _must([TOOLS / "bootstrap"])
    names = [*PROGRAMS, *(name for part in layout.parts for name in extras.PROGRAMS.get(part, ()))]
    _must([TOOLS / "components", "install", *names])
    found = subprocess.run([TOOLS / "components", "path", *names], check=True, text=True,
                           capture_output=True).stdout.split()
    return replace(layout, programs=dict(zip(names, found)))


def _must(argv):
    if subprocess.run(argv, check=False, stdin=subprocess.DEVNULL).returncode != 0:
        raise Failure(f"{argv[0].name} failed, see above")


def prepare(layout):
    """Everything that may take minutes, once. The layout with the places of its programs."""
    if reason := why_not():
        raise Failure(reason)
    layout = install(layout)
    if "juicefs" in layout.parts:
        juicefs.build_images()
    return layout


def up(layout, foreground):
    layout = prepare(layout)
    start = time.monotonic()
    lock = keeper.lock(layout.name)
    if lock is None:
        return already(layout)
    keeper.sweep(layout)
    network.need_bridge_filter()
    ours, theirs = os.pipe()
    if foreground:
        listener = threading.Thread(target=listen_or_end, args=(ours, layout, start))
        # After the clone: a thread beside it could hold a lock that the child needs.
        told = keeper.keep(lock, layout, theirs, begun=listener.start)
        listener.join()
        return 0 if told else 1
    pid = keeper.start_apart(lock, layout, theirs)
    os.close(theirs)
    os.close(lock)
    try:
        return listen(ours, layout, start)
    except BaseException:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)
        raise


def listen(progress, layout, start):
    """Shows how it goes, and does what is done from outside; the exit code."""
    with os.fdopen(progress) as lines:
        for line in lines:
            event = json.loads(line)
            if "say" in event:
                say(event["say"])
            elif "failure" in event:
                print(f"testbed: {event['failure']}", file=sys.stderr)
                return 1
            elif "ready" in event:
                install_from_outside(layout)
                say(f"cluster '{layout.name}' is up after {time.monotonic() - start:.1f} s; "
                    f"KUBECONFIG={layout.kubeconfig}")
                return 0
    print(f"testbed: the cluster died at its start; its log is {layout.logs}/host.log",
          file=sys.stderr)
    return 1


def listen_or_end(*args):
    """Beside the keeper."""
    try:
        listen(*args)
    except (Failure, OSError) as failure:
        print(f"testbed: {failure}", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGTERM)


def install_from_outside(layout):
    if "juicefs" in layout.parts:
        start = time.monotonic()
        juicefs.install(layout)
        say(f"juicefs: {time.monotonic() - start:.1f} s")


def already(wanted):
    """Fine if it is what was asked for."""
    with contextlib.suppress(OSError):
        found = load(wanted.state)
        if found.nodes != wanted.nodes or not found.parts.items() >= wanted.parts.items():
            raise Failure(f"cluster '{wanted.name}' is up with {found.nodes} nodes and the parts "
                          f"({', '.join(found.parts)}); end it first: tools/testbed --name "
                          f"{wanted.name} down")
    try:
        control.ask(wanted, do="status")
    except Failure:
        raise Failure(f"cluster '{wanted.name}' is about to start or to end; try again") from None
    say(f"cluster '{wanted.name}' is up already")
    return 0
