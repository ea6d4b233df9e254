# SPDX-License-Identifier: Apache-2.0
"""A cluster as a scenario sees it: kubectl, waiting, nodes, steps.

Everything goes through what users have: stock kubectl and `tools/testbed`. A step that fails raises
Failed with one sentence; the runner then keeps what describe() finds.
"""
import contextlib
import json
import os
import subprocess
import time
from pathlib import Path

from paddle_tools.paths import TOOLS, TOP

SYSTEM = "paddle-system"


class Failed(Exception):
    """A sentence that says what was expected and what was seen."""


class Never(Failed):
    """What was waited for can not come any more."""


def expect(condition, sentence):
    if not condition:
        raise Failed(sentence)


def component(name):
    """The path of an installed component."""
    done = subprocess.run([TOOLS / "components", "path", name], text=True, check=False,
                          capture_output=True)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return done.stdout.strip()


def testbed(name, *args, limit=300):
    """What tools/testbed says about the cluster of that name, which need not be up."""
    done = subprocess.run([TOOLS / "testbed", "--name", name, *map(str, args)], text=True,
                          check=False, capture_output=True, timeout=limit,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failed(f"testbed {' '.join(map(str, args))}: {done.stderr.strip()[-2000:]}")
    return done.stdout


class Stage:
    """Where a scenario is seen: its steps are counted and told."""

    def __init__(self, say=print, passes=lambda: None):
        self._say = say
        self._passes = passes

    @contextlib.contextmanager
    def step(self, title):
        """One thing that is seen working; counted when its end is reached."""
        start = time.monotonic()
        yield
        self._passes()
        self._say(f"   {title}: {time.monotonic() - start:.1f} s")

    def note(self, text):
        """A figure or fact worth reading in the log."""
        self._say(f"      {text}")

    def cluster(self, name):
        """One that is up, seen on this stage."""
        return Cluster(name, self._say, self._passes)


class Cluster(Stage):
    """One cluster of tools/testbed that is up."""

    def __init__(self, name, say=print, passes=lambda: None):
        super().__init__(say, passes)
        self.name = name
        self.kubeconfig = self.testbed("kubeconfig").strip()
        self._kubectl = component("kubectl")

    # --- the bed ----------------------------------------------------------------------------------

    def testbed(self, *args, limit=120):
        return testbed(self.name, *args, limit=limit)

    def on(self, place, *argv, limit=60):
        """What a command prints on a node, or on the cluster's host."""
        return self.testbed("exec", place, "--", *argv, limit=limit)

    def load(self, *images):
        """Images of tools/images, on every node."""
        self.testbed("load-image", *(TOP / "build/images" / f"{each}.tar" for each in images),
                     limit=300)

    # --- kubectl ----------------------------------------------------------------------------------

    def run(self, *args, stdin=None, limit=60):
        """(exit code, standard output, standard error)."""
        done = subprocess.run([self._kubectl, *map(str, args)], text=True, check=False,
                              env=self._environment(), input=stdin, capture_output=True,
                              timeout=limit)
        return done.returncode, done.stdout, done.stderr

    def start(self, *args):
        """A kubectl that goes on by itself, such as a watch; its lines are in .stdout."""
        return subprocess.Popen([self._kubectl, *map(str, args)], text=True,
                                env=self._environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _environment(self):
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": self.kubeconfig,
                "KUBECACHEDIR": str(Path(self.kubeconfig).parent / "kubectl")}

    def kubectl(self, *args, stdin=None, limit=60):
        code, out, err = self.run(*args, stdin=stdin, limit=limit)
        if code != 0:
            raise Failed(f"kubectl {' '.join(map(str, args))}: {err.strip() or out.strip()}")
        return out

    def apply(self, what, ns=None):
        """A path, or text, or objects; in a namespace, or where they say."""
        where = ["-n", ns] if ns else []
        if isinstance(what, Path):
            return self.kubectl(*where, "apply", "-f", what)
        if not isinstance(what, str):
            what = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(what)})
        return self.kubectl(*where, "apply", "-f", "-", stdin=what)

    def get(self, kind, name, ns="default"):
        """The object, or None."""
        code, out, err = self.run("-n", ns, "get", kind, name, "-o", "json")
        if code == 0:
            return json.loads(out)
        if "NotFound" in err or "not found" in err:
            return None
        raise Failed(f"kubectl get {kind} {name}: {err.strip()}")

    def list(self, kind, ns="default", selector=""):
        where = ["--all-namespaces"] if ns is None else ["-n", ns]
        return json.loads(self.kubectl("get", kind, *where, "-l", selector, "-o", "json"))["items"]

    # --- waiting ----------------------------------------------------------------------------------

    def wait(self, what, look, limit=60):
        """Until look() gives something; that. A Failed inside counts as not yet, and is told."""
        end = time.monotonic() + limit
        last = None
        while time.monotonic() < end:
            try:
                if found := look():
                    return found
            except Never:
                raise
            except (Failed, subprocess.TimeoutExpired) as error:
                last = error
            time.sleep(0.2)
        raise Failed(f"{what}: not within {limit} s" + (f" ({last})" if last else ""))

    def wait_phase(self, kind, name, phase, ns="default", limit=60, never=("Failed",)):
        """Of a PaddleJob, SampleSet or pod."""
        def look():
            status = (self.get(kind, name, ns) or {}).get("status", {})
            found = status.get("phase", "")
            if found != phase and found in never:
                raise Never(f"{kind} {name} became {found}, not {phase}: {json.dumps(status)}")
            return found == phase
        return self.wait(f"{kind} {name} {phase}", look, limit)

    def wait_gone(self, kind, name, ns="default", limit=60):
        return self.wait(f"{kind} {name} gone", lambda: self.get(kind, name, ns) is None, limit)

    # --- after a failure --------------------------------------------------------------------------

    def describe(self, directory):
        """Keeps what a reader of a failed run wants to see."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, args in {
                "pods": ["get", "pods", "-A", "-o", "wide"],
                "describe": ["describe", "pods", "-A"],
                "events": ["get", "events", "-A", "--sort-by=.lastTimestamp"],
                "ours": ["get", "paddlejobs,samplesets,samplejobs", "-A", "-o", "yaml"],
                "volumes": ["get", "pv,pvc", "-A"]}.items():
            with contextlib.suppress(Exception):
                _, out, err = self.run(*args)
                (directory / f"{name}.txt").write_text(out + err)
        with contextlib.suppress(Exception):
            for pod in self.list("pods", ns=None):
                ns, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
                _, out, err = self.run("-n", ns, "logs", name, "--all-containers", "--tail=200")
                (directory / f"log-{ns}-{name}.txt").write_text(out + err)
        with contextlib.suppress(Exception):
            (directory / "testbed.txt").write_text(self.testbed("logs"))
