# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzz targets of the asan preset, as many at once as there are cores.

Seeds of a target are in test/fuzz/<target>, words of its grammar in test/fuzz/<target>.dict. What a
run finds stays in build/corpus for the next one; an input that crashes is in build/logs/crashes.
"""
import argparse
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.runner import gtest, process
from paddle_tools.runner.report import TestReport

LOGS = TOP / "build" / "logs"
SEEDS = TOP / "test" / "fuzz"
BUILT = TOP / "build" / "asan" / "fuzz"
HOUR = 3600
# Beyond its time a target may still have to end its last input.
GRACE = 120


class FuzzOptions(NamedTuple):
    seconds: int  # of the clock, for all targets together
    names: tuple[str, ...]  # empty: all


def parse(argv: Sequence[str]) -> FuzzOptions:
    parser = argparse.ArgumentParser(prog="tools/run_tests fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=HOUR,
                        help="for all targets together (default: an hour)")
    parser.add_argument("names", nargs="*", metavar="TARGET", help="such as schedule_fuzz")
    given = parser.parse_args(argv)
    return FuzzOptions(given.seconds, tuple(given.names))


def find_targets(names: Sequence[str] = ()) -> list[Path]:
    """The targets that were built; those with these names, if there are any."""
    built = {each.name: each for each in sorted(BUILT.glob("*_fuzz")) if os.access(each, os.X_OK)}
    unknown = [name for name in names if name not in built]
    if unknown:
        raise ToolError(f"there is no fuzz target '{unknown[0]}'; there are {', '.join(built)}")
    return [built[name] for name in names] if names else list(built.values())


def seconds_for_each(seconds: int, targets: int, cores: int = gtest.CORES) -> int:
    """How long a target may run when all share the cores for this long."""
    rounds = -(-targets // cores)
    return max(1, seconds // max(1, rounds))


def run_selected(report: TestReport, options: FuzzOptions) -> None:
    targets = find_targets(options.names)
    run_targets(report, targets, seconds_for_each(options.seconds, len(targets)))


def run_all(report: TestReport, seconds: int) -> None:
    """All targets for so many seconds each."""
    run_targets(report, find_targets(), seconds)


def run_targets(report: TestReport, targets: Sequence[Path], seconds: int) -> None:
    if not targets:
        report.add_failure("fuzz", "the asan preset built no target",
                           reproduce="ls build/asan/fuzz")
        return
    with report.step(f"fuzz {len(targets)} targets for {seconds} s each"), \
            ThreadPoolExecutor(max_workers=gtest.CORES) as pool:
        counts = list(pool.map(lambda target: run_one(report, target, seconds), targets))
        report.log(f"   {sum(counts):,} inputs of {len(targets)} targets")


def run_one(report: TestReport, target: Path, seconds: int) -> int:
    """Returns how many inputs it tried."""
    corpus = TOP / "build" / "corpus" / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    crashes = LOGS / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{target.name}.log"
    limit = seconds + GRACE
    code, _ = process.run(
        [target, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={crashes}/{target.name}-",
         *dictionary_of(target.name), corpus, *seeds_of(target.name)],
        log, limit, env=process.test_environment())
    text = process.tail(log, 1000)
    tried = count_of_inputs(text)
    if code == 0:
        report.add_passed()
        report.log(f"   {target.name}: {tried:,} inputs")
        return tried
    marker = "Test unit written to "
    artifact = next((line.split(marker)[1] for line in text.splitlines() if marker in line), None)
    report.add_failure(target.name, process.describe_exit(code, limit), process.tail(log),
                       process.command_line([target, artifact or corpus]))
    return tried


def seeds_of(name: str) -> list[Path]:
    return [each for each in (SEEDS / name,) if each.is_dir()]


def dictionary_of(name: str) -> list[str]:
    return [f"-dict={each}" for each in (SEEDS / f"{name}.dict",) if each.is_file()]


def count_of_inputs(text: str) -> int:
    """From the statistics at the end of a target's output."""
    found = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    return int(found[1]) if found else 0
