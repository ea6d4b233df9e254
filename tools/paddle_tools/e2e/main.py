# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios of test/e2e on real clusters of tools/testbed.

    tools/e2e core              the main paths, on one cluster: what CI runs
    tools/e2e all               everything
    tools/e2e install NAME...   these scenarios, in this order, on one cluster
    tools/e2e list              what there is

Installs and builds what is missing first. A scenario is a file test/e2e/NAME.py with a sentence at
its top and `def run(cluster)`. The last line is `N passed, N failed, N skipped`; what is worth
reading after a failure is in build/logs/e2e. Settings:
    PADDLE_E2E_KEEP=1      leave the cluster up (`tools/testbed --name e2e down` ends it)
    PADDLE_E2E_NAME=NAME   of the cluster, when another run goes on beside this one
"""
import importlib.util
import os
import signal
import subprocess
import sys
import time
import traceback

from paddle_tools.e2e.cluster import Failed, Stage
from paddle_tools.paths import TOOLS, TOP
from paddle_tools.runner.report import Tally

SCENARIOS = TOP / "test" / "e2e"
LOGS = TOP / "build" / "logs" / "e2e"

NAME = os.environ.get("PADDLE_E2E_NAME", "e2e")
DOWN_LIMIT = 600  # some leave hundreds of thousands of files
# One cluster goes through these in order: each finds what the one before has left.
CORE = ("install", "collective", "juicefs_csi", "sample_job", "uninstall")


class Scenario:
    """A file of test/e2e."""

    def __init__(self, name):
        self.name = name
        path = SCENARIOS / f"{name}.py"
        if not path.is_file():
            raise Failed(f"there is no scenario '{name}'; `tools/e2e list` shows what there is")
        spec = importlib.util.spec_from_file_location(f"scenario_{name}", path)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    @property
    def about(self):
        return (self.module.__doc__ or "").strip().splitlines()[0]

    @property
    def parts(self):
        """Optional parts of the bed that it needs."""
        return tuple(getattr(self.module, "WITH", ()))

    @property
    def needs(self):
        """Components and images beyond those of every cluster."""
        return tuple(getattr(self.module, "COMPONENTS", ())), tuple(getattr(self.module, "IMAGES", ()))

    @property
    def judges_others(self):
        """It looks at what all others did: they come first."""
        return getattr(self.module, "JUDGES_OTHERS", False)

    @property
    def brings_clusters(self):
        """It makes and ends clusters of its own: it is given a stage only."""
        return getattr(self.module, "BRINGS_CLUSTERS", False)


def all_names():
    return sorted(path.stem for path in SCENARIOS.glob("*.py"))


def tell(argv, limit=None):
    """Runs to its end with its output shown."""
    done = subprocess.run([str(each) for each in argv], check=False, cwd=TOP, timeout=limit,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise Failed(f"'{' '.join(map(str, argv[:4]))}' failed with exit code {done.returncode}")


def prepare(tally, scenarios):
    components, images = {"kubectl"}, {"paddle-operator", "paddle-cache"}
    for each in scenarios:
        more, pictures = each.needs
        components.update(more)
        images.update(pictures)
    with tally.step("programs, components and images"):
        tell([TOOLS / "components", "install", *sorted(components)])
        tell(["make", "build"])
        tell([TOOLS / "images", "build", *sorted(images)])


def again(scenario):
    """What somebody else would type."""
    before = "" if scenario.brings_clusters or scenario.name == CORE[0] else f"{CORE[0]} "
    return f"tools/e2e {before}{scenario.name}"


def run_one(tally, scenario, cluster):
    with tally.step(f"{scenario.name}: {scenario.about}"):
        try:
            scenario.module.run(cluster)
            return True
        except (Failed, subprocess.TimeoutExpired) as failure:
            tally.fails(scenario.name, str(failure).splitlines()[0], str(failure),
                        again(scenario))
        except Exception:  # pylint: disable=broad-except
            tally.fails(scenario.name, "the scenario itself broke", traceback.format_exc(),
                        again(scenario))
        return False


def on_one_cluster(tally, scenarios):
    parts = sorted({part for each in scenarios for part in each.parts})
    bed = [TOOLS / "testbed", "--name", NAME]
    try:
        with tally.step("the cluster"):
            subprocess.run([*bed, "down"], check=False, capture_output=True, timeout=DOWN_LIMIT)
            tell([*bed, "up", *(["--with", ",".join(parts)] if parts else [])], limit=600)
        tally.passes()
        cluster = Stage(tally.say, tally.passes).cluster(NAME)
        for at, scenario in enumerate(scenarios):
            if run_one(tally, scenario, cluster):
                continue
            cluster.describe(LOGS / scenario.name)
            tally.say(f"   what was found on the cluster is in {LOGS / scenario.name}")
            for later in scenarios[at + 1:]:
                tally.skip(later.name, f"{scenario.name} failed before it on the same cluster",
                           missing=True)
            return
    finally:
        if not os.environ.get("PADDLE_E2E_KEEP"):
            with tally.step("the cluster's end"):
                tell([*bed, "down"], limit=DOWN_LIMIT)


def plan(argv):
    """[[scenarios of one cluster], ...]"""
    if argv == ["core"]:
        return [[Scenario(each) for each in CORE]]
    if argv == ["all"]:
        rest = [Scenario(each) for each in all_names() if each not in CORE]
        own = [each for each in rest if each.brings_clusters]
        shared = [each for each in rest if not each.brings_clusters]
        core = [Scenario(each) for each in CORE]
        judges = [each for each in shared if each.judges_others]
        shared = [each for each in shared if not each.judges_others]
        # One that installs and removes the CSI driver itself: before others leave mounts behind.
        early = CORE.index("juicefs_csi") + 1
        return [core[:early] + shared + core[early:-1] + judges + core[-1:],
                *([each] for each in own)]
    return [[Scenario(each) for each in argv]]


def run(argv):
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
    tally = Tally()
    start = time.monotonic()
    try:
        groups = plan(argv)
        prepare(tally, [each for group in groups for each in group])
        for group in groups:
            if group[0].brings_clusters:
                run_one(tally, group[0], Stage(tally.say, tally.passes))
            else:
                on_one_cluster(tally, group)
    except (Failed, subprocess.TimeoutExpired) as failure:
        tally.fails("e2e", str(failure), reproduce=f"tools/e2e {' '.join(argv)}")
    tally.say(f"   end to end: {time.monotonic() - start:.0f} s")
    return tally.finish(ci=os.environ.get("CI") == "true")


def main(argv):
    try:
        return run(argv)
    except Failed as failure:
        print(f"e2e: {failure}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
