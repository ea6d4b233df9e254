# SPDX-License-Identifier: Apache-2.0
"""A cluster as a scenario uses it: kubectl, waiting, nodes, steps.

Scenarios use what users have: stock kubectl and `tools/testbed`. A step that fails raises
ScenarioFailed; the runner then keeps what describe() finds.
"""
import contextlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle_tools.json_types import Json
from paddle_tools.paths import TOOLS, TOP

SYSTEM = "paddle-system"

Log = Callable[[str], None]
Objects = list[Json]


class ScenarioFailed(Exception):
    """Its text says what was expected and what was found."""


class PermanentFailure(ScenarioFailed):
    """The state that a step waits for cannot be reached any more."""


def expect(condition: object, sentence: str) -> None:
    if not condition:
        raise ScenarioFailed(sentence)


def component(name: str) -> str:
    """The path of an installed component."""
    done = subprocess.run([TOOLS / "components", "path", name], text=True, check=False,
                          capture_output=True)
    if done.returncode != 0:
        raise ScenarioFailed(done.stderr.strip())
    return done.stdout.strip()


# Called with each cluster that a scenario uses.
when_used: "list[Callable[[Cluster], None]]" = []
# Called with the name of a cluster before testbed() ends it.
before_down: list[Callable[[str], None]] = []


def testbed(name: str, *args: object, limit: float = 300) -> str:
    """Runs tools/testbed for the cluster of that name; returns its output."""
    if args[:1] == ("down",):
        for act in before_down:
            act(name)
    done = subprocess.run([TOOLS / "testbed", "--name", name, *map(str, args)], text=True,
                          check=False, capture_output=True, timeout=limit,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ScenarioFailed(f"testbed {' '.join(map(str, args))}: {done.stderr.strip()[-2000:]}")
    return done.stdout


class ScenarioRun:
    """One run of a scenario: counts and logs its steps."""

    def __init__(self, log: Log = print, add_passed: Callable[[], None] = lambda: None) -> None:
        self._log = log
        self._add_passed = add_passed

    @contextlib.contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One behaviour that is shown; counts as passed when its end is reached."""
        start = time.monotonic()
        yield
        self._add_passed()
        self._log(f"   {title}: {time.monotonic() - start:.1f} s")

    def note(self, text: str) -> None:
        """Logs a figure or a fact."""
        self._log(f"      {text}")

    def cluster(self, name: str) -> "Cluster":
        """A cluster that is up, for this scenario."""
        found = Cluster(name, self._log, self._add_passed)
        for act in when_used:
            act(found)
        return found


class Cluster(ScenarioRun):
    """A cluster of tools/testbed that is up."""

    def __init__(self, name: str, log: Log = print,
                 add_passed: Callable[[], None] = lambda: None) -> None:
        super().__init__(log, add_passed)
        self.name = name
        self.kubeconfig = self.testbed("kubeconfig").strip()
        self._kubectl = component("kubectl")

    # --- the bed ----------------------------------------------------------------------------------

    def testbed(self, *args: object, limit: float = 120) -> str:
        return testbed(self.name, *args, limit=limit)

    def on(self, place: str, *argv: object, limit: float = 60) -> str:
        """Runs a command on a node or on the cluster's host; returns its output."""
        return self.testbed("exec", place, "--", *argv, limit=limit)

    def load(self, *images: str) -> None:
        """Loads images of tools/images on every node."""
        self.testbed("load-image", *(TOP / "build/images" / f"{each}.tar" for each in images),
                     limit=300)

    def tag_image(self, image: str, name: str) -> None:
        """Gives an image that is loaded another full name, on every node."""
        def full(text: str) -> str:
            first, slash, _ = text.partition("/")
            if not slash:
                return f"docker.io/library/{text}"
            return text if "." in first else f"docker.io/{text}"

        program = Path(component("containerd")).parent / "ctr"
        for node in self.list("nodes", ns=None):
            self.on(node["metadata"]["name"], program, "-n", "k8s.io", "images", "tag", "--force",
                    full(image), full(name))

    # --- kubectl ----------------------------------------------------------------------------------

    def run(self, *args: object, stdin: str | None = None,
            limit: float = 60) -> tuple[int, str, str]:
        """Runs kubectl; returns (exit code, standard output, standard error)."""
        done = subprocess.run([self._kubectl, *map(str, args)], text=True, check=False,
                              env=self._environment(), input=stdin, capture_output=True,
                              timeout=limit)
        return done.returncode, done.stdout, done.stderr

    def start(self, *args: object) -> subprocess.Popen[str]:
        """Starts a kubectl that runs in the background, such as a watch; .stdout has its lines."""
        return subprocess.Popen([self._kubectl, *map(str, args)], text=True,
                                env=self._environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": self.kubeconfig,
                "KUBECACHEDIR": str(Path(self.kubeconfig).parent / "kubectl")}

    def kubectl(self, *args: object, stdin: str | None = None, limit: float = 60) -> str:
        code, out, err = self.run(*args, stdin=stdin, limit=limit)
        if code != 0:
            raise ScenarioFailed(f"kubectl {' '.join(map(str, args))}: "
                                 f"{err.strip() or out.strip()}")
        return out

    def apply(self, what: Path | str | Iterable[Json], ns: str | None = None) -> str:
        """Applies a file, a text or objects, in a namespace or where they name one."""
        where = ["-n", ns] if ns else []
        if isinstance(what, Path):
            return self.kubectl(*where, "apply", "-f", what)
        if not isinstance(what, str):
            what = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(what)})
        return self.kubectl(*where, "apply", "-f", "-", stdin=what)

    def get(self, kind: str, name: str, ns: str = "default") -> Any:
        """The object, or None when there is none."""
        code, out, err = self.run("-n", ns, "get", kind, name, "-o", "json")
        if code == 0:
            return json.loads(out)
        if "NotFound" in err or "not found" in err:
            return None
        raise ScenarioFailed(f"kubectl get {kind} {name}: {err.strip()}")

    def list(self, kind: str, ns: str | None = "default", selector: str = "") -> Objects:
        where = ["--all-namespaces"] if ns is None else ["-n", ns]
        return json.loads(self.kubectl("get", kind, *where, "-l", selector, "-o", "json"))["items"]

    # --- waiting ----------------------------------------------------------------------------------

    def wait(self, what: str, look: Callable[[], Any], limit: float = 60) -> Any:
        """Calls look() until its result is true, and returns it. A ScenarioFailed in look() counts
        as false; the last one is added to the message when the limit is reached."""
        end = time.monotonic() + limit
        last: Exception | None = None
        while time.monotonic() < end:
            try:
                if found := look():
                    return found
            except PermanentFailure:
                raise
            except (ScenarioFailed, subprocess.TimeoutExpired) as error:
                last = error
            time.sleep(0.2)
        raise ScenarioFailed(f"{what}: not within {limit} s" + (f" ({last})" if last else ""))

    def wait_phase(self, kind: str, name: str, phase: str, ns: str = "default", limit: float = 60,
                   never: Sequence[str] = ("Failed",)) -> bool:
        """Waits until a PaddleJob, SampleSet, SampleJob or pod has a phase; fails when it has one
        of `never`."""
        def look() -> Any:
            status = (self.get(kind, name, ns) or {}).get("status", {})
            found = status.get("phase", "")
            if found != phase and found in never:
                raise PermanentFailure(f"{kind} {name} became {found}, not {phase}: "
                                       f"{json.dumps(status)}")
            return found == phase
        return self.wait(f"{kind} {name} {phase}", look, limit)

    def wait_gone(self, kind: str, name: str, ns: str = "default", limit: float = 60) -> bool:
        return self.wait(f"{kind} {name} gone", lambda: self.get(kind, name, ns) is None, limit)

    # --- after a failure --------------------------------------------------------------------------

    def describe(self, directory: Path) -> None:
        """Writes objects, events and logs to files, to examine a failed run."""
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
