# SPDX-License-Identifier: Apache-2.0
"""Searches for an hour, with other seeds each time, for what `make test` searches for minutes.

    make soak SOAK=walks                          random walks over specs (test/walks), an hour
    make soak SOAK="walks --seconds 600 --seed 7"

A kind is a test program and the cases that search; further kinds join KINDS. Each case runs in a
process of its own, all at the same time. The last line has seeds and counts.
"""
import argparse
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.runner import gtest, process
from paddle_tools.runner.report import TestReport

LOGS = TOP / "build" / "logs"
HOUR = 3600
GRACE = 600  # the last search of a case may still have to end


class SoakKind(NamedTuple):
    program: str
    cases: dict[str, str]  # what is searched: the test case
    # Of a case's last line "<kind> <what>: ...": counts that are summed, by their words.
    counts: tuple[str, ...]


KINDS = {
    "walks": SoakKind("walks_test",
                      {"PaddleJob": "PaddleJobWalks.EndLikeANewJobWithTheLastSpec",
                       "SampleSet": "SampleSetWalks.EndLikeANewSetWithTheLastSpec",
                       "SampleJob": "SampleJobWalks.EndLikeANewJobWithTheLastSpec"},
                      ("walks", "edits")),
}


class SoakOptions(NamedTuple):
    kind: str
    seconds: int
    seed: int


class Searched(NamedTuple):
    what: str
    counts: dict[str, int]
    seeds: str
    failed: bool


def parse(argv: Sequence[str]) -> SoakOptions:
    parser = argparse.ArgumentParser(prog="tools/run_tests soak", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--seconds", type=int, default=HOUR, help="of the clock (default: an hour)")
    parser.add_argument("--seed", type=int, default=int(time.time()),
                        help="the first one (default: the time, so that each run is another)")
    given = parser.parse_args(argv)
    return SoakOptions(given.kind, given.seconds, given.seed)


def read_counts(kind: str, what: str, text: str) -> tuple[dict[str, int], str]:
    """The counts and the seeds in the line that a case prints at its end."""
    line = next((each for each in reversed(text.splitlines())
                 if each.startswith(f"{kind} {what}: ") and "seeds" in each), "")
    counts = {word: int(found[1]) for word in KINDS[kind].counts
              if (found := re.search(rf"(\d+) {word}", line))}
    seeds = re.search(r"seeds (\d+ to \d+)", line)
    return counts, seeds[1] if seeds else "none"


def search(report: TestReport, options: SoakOptions, what: str, case: str) -> Searched:
    kind = KINDS[options.kind]
    log = LOGS / f"soak-{options.kind}-{what}.log"
    env = {"PADDLE_WALK_SEED": str(options.seed), "PADDLE_WALK_SECONDS": str(options.seconds)}
    argv: list[str | Path] = [TOP / "build" / "release" / "tests" / kind.program,
                              f"--gtest_filter={case}"]
    limit = options.seconds + GRACE
    code, _ = process.run(argv, log, limit, cwd=TOP, env=process.test_environment(**env))
    counts, seeds = read_counts(options.kind, what, process.tail(log, 10**6))
    failed = code != 0 or not counts
    if failed:
        report.add_failure(f"soak {options.kind} {what}", process.describe_exit(code, limit),
                           process.tail(log), process.command_line(argv, env))
    else:
        report.add_passed()
    return Searched(what, counts, seeds, failed)


def summary(kind: str, results: Sequence[Searched]) -> str:
    totals = ", ".join(f"{sum(each.counts.get(word, 0) for each in results):,} {word}"
                       for word in KINDS[kind].counts)
    seeds = ", ".join(f"{each.what} {each.seeds}" for each in results)
    failed = sum(each.failed for each in results)
    return f"soak {kind}: {totals}; seeds: {seeds}; {failed} of {len(results)} failed"


def run(report: TestReport, options: SoakOptions) -> str:
    """Returns the line with seeds and counts."""
    kind = KINDS[options.kind]
    if not gtest.build(report, TOP, "release", [kind.program]):
        raise ToolError(f"{kind.program} does not build: see build/logs/build-release.log")
    with report.step(f"soak {options.kind} for {options.seconds} s"), \
            ThreadPoolExecutor(max_workers=len(kind.cases)) as pool:
        results = list(pool.map(lambda each: search(report, options, *each), kind.cases.items()))
    return summary(options.kind, results)
