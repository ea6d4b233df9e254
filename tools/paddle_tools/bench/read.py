# SPDX-License-Identifier: Apache-2.0
"""Reads the same samples from native files, samplefs and its rivals. See bench/README.md.

    bench/read [--files N] [--cold-files N] [--tree-files N] [--rounds N] [--cold-rounds N]
               [--seed N] [--only SUBJECTS] [--parts PARTS] [--programs DIR] [--results DIR]
               [--quick]
    bench/read --million [--seed N] [--programs DIR] [--results DIR] [--quick]

The last line of output is one JSON object of ratios. Nothing is asserted about time.
"""
import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from paddle_tools import sandbox
from paddle_tools.bench import million, programs
from paddle_tools.bench.read_run import PARTS, ReadRun
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.sandbox import SANDBOX, run

HERE = TOP / "bench"
COMPONENTS = ("versitygw", "redis", "juicefs", "s3fs", "rclone", "fusermount")
PROGRAMS = {"bench": ("read_files", "mount_samples", "delay_proxy"), "bin": ("paddle-cache",)}


def arguments(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20_000,
                        help="of 110 KB, and as many of 16 KB, in warm epochs")
    parser.add_argument("--big-files", type=int, default=8, help="of 256 MB")
    parser.add_argument("--cold-files", type=int, default=300, help="of 110 KB over the slow link")
    parser.add_argument("--tree-files", type=int, default=100_000, help="that are listed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cold-rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None, help="of the orders; random when absent")
    parser.add_argument("--only", default="", help="comma list of subjects; default: all")
    parser.add_argument("--parts", default=",".join(PARTS),
                        help="comma list of what is measured (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="few files, one round: does it work?")
    parser.add_argument("--million", action="store_true",
                        help="instead: samplefs with a set of a million files, most only listed")
    programs.add_arguments(parser)
    plan = parser.parse_args(argv)
    if unknown := set(plan.parts.split(",")) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    if plan.quick:
        plan.files, plan.big_files, plan.cold_files, plan.tree_files = 400, 2, 60, 1_000
        plan.rounds, plan.cold_rounds = 1, 1
    programs.complete(plan)
    return plan


def collect_programs(build: Path, target: Path) -> None:
    """Copies the programs: a build at the same time does not change what is measured."""
    programs.collect(build, target, PROGRAMS, "make bench-read")
    installer = TOP / "tools" / "components"
    if subprocess.run([installer, "install", *COMPONENTS], check=False).returncode != 0:
        raise ToolError("a component could not be installed; the reason is above")
    for name in COMPONENTS:
        path = Path(run([installer, "path", name]).strip())
        shutil.copytree(path.parent.parent, target / f"{name}.d", symlinks=True)


def outside(plan: argparse.Namespace) -> int:
    if why := sandbox.unsupported_reason():
        raise ToolError(why)
    name = "million" if plan.million else "read"
    with sandbox.scratch_directory(TOP / "build" / "bench" / "scratch") as scratch:
        if plan.million:
            programs.collect(plan.programs, scratch / "programs", million.PROGRAMS,
                             "make bench-read")
        else:
            collect_programs(plan.programs, scratch / "programs")
        (scratch / "plan.json").write_text(json.dumps(
            {key: value for key, value in vars(plan).items() if not isinstance(value, Path)}))
        code = sandbox.run_inside(scratch, [HERE / "read", "--inside"])
        if code != 0:
            return code
        plan.results.mkdir(parents=True, exist_ok=True)
        stamp = time.strftime("%Y-%m-%d", time.gmtime())
        for made in sorted(scratch.glob(f"{name}.*")):
            shutil.copy(made, plan.results / f"{name}-{stamp}{made.suffix}")
        print(f"bench: written: {plan.results / f'{name}-{stamp}.json'}", flush=True)
        print(json.dumps(json.loads((scratch / f"{name}.json").read_text())["figures"]))
    return 0


def main(argv: list[str]) -> int:
    sandbox.interrupt_on_signals()
    try:
        if argv == ["--inside"]:
            sandbox.set_up_inside()
            plan = json.loads((SANDBOX / "plan.json").read_text())
            if plan["million"]:
                million.measure(plan)
            else:
                ReadRun(plan).run()
            return 0
        return outside(arguments(argv))
    except ToolError as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
