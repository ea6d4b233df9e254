# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks have in common: the programs that they measure, and how they are chosen."""
import argparse
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP

RESULTS = TOP / "bench" / "results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--programs", type=Path, default=TOP / "build",
                        help="a build: its bin/ and bench/ (default: build/)")
    parser.add_argument("--results", type=Path, default=RESULTS,
                        help="where the report goes (default: bench/results; quick: build/bench)")


def complete(plan: argparse.Namespace) -> None:
    """Fills in what was not given: the folder of a quick run's report, and the seed."""
    if plan.quick and plan.results == RESULTS:
        plan.results = TOP / "build" / "bench" / "results"
    if plan.seed is None:
        plan.seed = random.SystemRandom().randrange(10**6)


def collect(build: Path, target: Path, programs: Mapping[str, Sequence[str]], make: str) -> None:
    """Copies {folder: names} of a build: a build at the same time does not change what is
    measured."""
    target.mkdir()
    for folder, names in programs.items():
        for name in names:
            places = [build / folder / name, build / "release" / folder / name]
            found = next((each for each in places if each.exists()), None)
            if found is None:
                raise ToolError(f"there is no {folder}/{name} in {build}: run {make}")
            shutil.copy2(found, target / name)
