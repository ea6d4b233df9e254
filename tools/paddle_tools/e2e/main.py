# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios of test/e2e on real clusters of tools/testbed.

    tools/e2e core              the main paths, on one cluster: what CI runs
    tools/e2e all               everything
    tools/e2e install NAME...   these scenarios, in this order, on one cluster; after them, one by
                                one, those that make their clusters themselves
    tools/e2e list              what there is
    tools/e2e --kubernetes VERSION ...   the same on another Kubernetes, of those in components.d

Installs and builds what is missing first. A scenario is a file test/e2e/NAME.py with a sentence at
its top and `def run(cluster)`. Through each of them canary keys are looked for where none may be
(paddle_tools/e2e/leak_watch.py). The last line is `N passed, N failed, N skipped`; what is worth
reading after a failure is in build/logs/e2e. Settings:
    PADDLE_E2E_KEEP=1      leave the cluster up (`tools/testbed --name e2e down` ends it)
    PADDLE_E2E_NAME=NAME   of the cluster, when another run goes on beside this one
"""
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from paddle_tools import components
from paddle_tools.e2e.cluster import (
    Cluster,
    ScenarioFailed,
    ScenarioRun,
    before_down,
    expect,
    when_used,
)
from paddle_tools.e2e.leak_watch import LeakWatch
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS, TOP
from paddle_tools.runner.report import TestReport

SCENARIOS = TOP / "test" / "e2e"
LOGS = TOP / "build" / "logs" / "e2e"

NAME = os.environ.get("PADDLE_E2E_NAME", "e2e")
DOWN_LIMIT = 600  # some leave hundreds of thousands of files
# One cluster runs these in order: each uses what the previous one left.
CORE = ("install", "collective", "juicefs_csi", "sample_job", "uninstall")


class Scenario:
    """A file of test/e2e."""

    def __init__(self, name: str) -> None:
        self.name = name
        path = SCENARIOS / f"{name}.py"
        if not path.is_file():
            raise ScenarioFailed(f"there is no scenario '{name}'; `tools/e2e list` shows all")
        loader = importlib.machinery.SourceFileLoader(f"scenario_{name}", str(path))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        assert spec is not None
        self.module = importlib.util.module_from_spec(spec)
        loader.exec_module(self.module)

    @property
    def about(self) -> str:
        return (self.module.__doc__ or "").strip().splitlines()[0]

    @property
    def parts(self) -> tuple[str, ...]:
        """The optional parts of the cluster that it needs."""
        return tuple(getattr(self.module, "WITH", ()))

    @property
    def needs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(components, images) that it needs beyond those of every cluster."""
        return (tuple(getattr(self.module, "COMPONENTS", ())),
                tuple(getattr(self.module, "IMAGES", ())))

    @property
    def runs_last(self) -> bool:
        """It examines what all other scenarios did."""
        return getattr(self.module, "RUNS_LAST", False)

    @property
    def leaks_of_others(self) -> tuple[str, ...]:
        """Where programs that are not ours show keys, in the words of leak_watch.py."""
        return tuple(getattr(self.module, "LEAKS_OF_OTHERS", ()))

    @property
    def makes_clusters(self) -> bool:
        """It makes and ends its clusters itself; run() gets a ScenarioRun."""
        return getattr(self.module, "MAKES_CLUSTERS", False)


def all_names() -> list[str]:
    return sorted(path.stem for path in SCENARIOS.glob("*.py"))


def run_shown(argv: Sequence[object], limit: float | None = None) -> None:
    """Runs a command to its end with its output shown."""
    done = subprocess.run([str(each) for each in argv], check=False, cwd=TOP, timeout=limit,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise ScenarioFailed(f"'{' '.join(map(str, argv[:4]))}' failed with exit code "
                             f"{done.returncode}")


def prepare(report: TestReport, scenarios: list[Scenario]) -> None:
    components, images = {"kubectl"}, {"paddle-operator", "paddle-cache"}
    for each in scenarios:
        more_components, more_images = each.needs
        components.update(more_components)
        images.update(more_images)
    with report.step("programs, components and images"):
        run_shown([TOOLS / "components", "install", *sorted(components)])
        run_shown(["make", "build"])
        run_shown([TOOLS / "images", "build", *sorted(images)])


def version_words() -> str:
    version = os.environ.get(components.OTHER_KUBERNETES)
    return f"--kubernetes {version} " if version else ""


def reproduce_command(scenario: Scenario) -> str:
    """The command that runs a scenario alone."""
    before = "" if scenario.makes_clusters or scenario.name == CORE[0] else f"{CORE[0]} "
    return f"tools/e2e {version_words()}{before}{scenario.name}"


def run_one(report: TestReport, scenario: Scenario, cluster: ScenarioRun,
            leaks: LeakWatch) -> bool:
    """Runs a scenario; then looks for keys where none may be, also after a failure."""
    with report.step(f"{scenario.name}: {scenario.about}"):
        good = False
        try:
            scenario.module.run(cluster)
            if isinstance(cluster, Cluster):
                leaks.look(cluster.name)
            good = True
        except (ScenarioFailed, subprocess.TimeoutExpired) as failure:
            report.add_failure(scenario.name, str(failure).splitlines()[0], str(failure),
                               reproduce_command(scenario))
        except Exception:
            report.add_failure(scenario.name, "the scenario itself has an error",
                               traceback.format_exc(),
                               reproduce_command(scenario))
        if found := [each for each in leaks.found()
                     if not each.endswith(scenario.leaks_of_others)]:
            report.add_failure(f"{scenario.name}, leaks", found[0], "\n".join(found),
                               reproduce_command(scenario))
            return False
        report.add_passed()
        return good


def check_version(cluster: Cluster) -> None:
    """With --kubernetes, the API server and all kubelets are of that version."""
    if not (version := os.environ.get(components.OTHER_KUBERNETES)):
        return
    with cluster.step(f"the cluster is one of Kubernetes {version}"):
        found = {node["status"]["nodeInfo"]["kubeletVersion"] for node in cluster.list("nodes")}
        server = json.loads(cluster.kubectl("get", "--raw", "/version"))["gitVersion"]
        expect(found | {server} == {f"v{version}"}, f"kubelets are {found}, the server is {server}")


def on_one_cluster(report: TestReport, scenarios: list[Scenario],
                   leaks: LeakWatch) -> list[Scenario]:
    """Runs scenarios in order until one fails; returns those after it, which did not run."""
    parts = sorted({part for each in scenarios for part in each.parts})
    bed: list[str | Path] = [TOOLS / "testbed", "--name", NAME]
    try:
        with report.step("the cluster"):
            subprocess.run([*bed, "down"], check=False, capture_output=True, timeout=DOWN_LIMIT)
            run_shown([*bed, "up", *(["--with", ",".join(parts)] if parts else [])], limit=600)
        report.add_passed()
        cluster = ScenarioRun(report.log, report.add_passed).cluster(NAME)
        check_version(cluster)
        for at, scenario in enumerate(scenarios):
            if run_one(report, scenario, cluster, leaks):
                continue
            cluster.describe(LOGS / scenario.name)
            report.log(f"   what was found on the cluster is in {LOGS / scenario.name}")
            return scenarios[at + 1:]
        return []
    finally:
        leaks.remove(NAME)
        if not os.environ.get("PADDLE_E2E_KEEP"):
            with report.step("the cluster's end"):
                run_shown([*bed, "down"], limit=DOWN_LIMIT)


def on_shared_clusters(report: TestReport, scenarios: list[Scenario], leaks: LeakWatch) -> None:
    """Runs scenarios on one cluster. After a failure the rest runs on a new one, where the first
    scenario, which installs the operator, is repeated: one run finds all that is broken."""
    first = scenarios[0]
    rest = on_one_cluster(report, scenarios, leaks)
    while rest and first.name == CORE[0] and not os.environ.get("PADDLE_E2E_KEEP"):
        before = len(rest)
        rest = on_one_cluster(report, [first, *rest], leaks)
        if len(rest) >= before:  # the first one failed
            break
    for each in rest:
        report.add_skipped(each.name, "a scenario before it failed on the same cluster",
                           missing=True)


def plan(argv: list[str]) -> list[list[Scenario]]:
    """The scenarios to run, as a list for each cluster."""
    if argv == ["core"]:
        return [[Scenario(each) for each in CORE]]
    if argv == ["all"]:
        rest = [Scenario(each) for each in all_names() if each not in CORE]
        own = [each for each in rest if each.makes_clusters]
        shared = [each for each in rest if not each.makes_clusters]
        core = [Scenario(each) for each in CORE]
        judges = [each for each in shared if each.runs_last]
        shared = [each for each in shared if not each.runs_last]
        # juicefs_csi installs and removes the CSI driver: it runs before others leave mounts.
        early = CORE.index("juicefs_csi") + 1
        return [core[:early] + shared + core[early:-1] + judges + core[-1:],
                *([each] for each in own)]
    named = [Scenario(each) for each in argv]
    together = [each for each in named if not each.makes_clusters]
    alone = [[each] for each in named if each.makes_clusters]
    return [together, *alone] if together else alone


def take_version(argv: list[str]) -> list[str]:
    """Takes --kubernetes VERSION off the arguments, for all programs that are started from here."""
    if argv[:1] != ["--kubernetes"] or len(argv) < 3:
        return argv
    os.environ[components.OTHER_KUBERNETES] = argv[1]
    try:
        components.read_table()
    except ToolError as error:
        raise ScenarioFailed(str(error)) from error
    return argv[2:]


def run(argv: list[str]) -> int:
    argv = take_version(argv)
    if not argv or argv[0].startswith("-"):
        print(__doc__, file=sys.stdout if argv in (["--help"], ["-h"]) else sys.stderr)
        return 0 if argv in (["--help"], ["-h"]) else 2
    if argv == ["list"]:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as in `tools/e2e list | head`
        for name in all_names():
            print(f"{name:20} {'core' if name in CORE else '    '}  {Scenario(name).about}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` runs
    LOGS.mkdir(parents=True, exist_ok=True)
    report = TestReport()
    start = time.monotonic()
    leaks = LeakWatch()
    when_used.append(leaks.add)
    before_down.append(leaks.remove)
    try:
        groups = plan(argv)
        prepare(report, [each for group in groups for each in group])
        for group in groups:
            if group[0].makes_clusters:
                run_one(report, group[0], ScenarioRun(report.log, report.add_passed), leaks)
            else:
                on_shared_clusters(report, group, leaks)
    except (ScenarioFailed, subprocess.TimeoutExpired) as failure:
        report.add_failure("e2e", str(failure),
                           reproduce=f"tools/e2e {version_words()}{' '.join(argv)}")
    finally:
        leaks.end()
    report.log(f"   end to end: {time.monotonic() - start:.0f} s")
    return report.finish(ci=os.environ.get("CI") == "true")


def main(argv: list[str]) -> int:
    try:
        return run(argv)
    except ScenarioFailed as failure:
        print(f"e2e: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
