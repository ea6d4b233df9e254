# SPDX-License-Identifier: Apache-2.0
"""Runs commands one after the other, then reports how long each of their steps took.

    tools/times FILE COMMAND...    e.g. tools/times build/times.jsonl "make test" "make e2e-core"

Stops at the first command that fails, and ends with its exit code. The report has elapsed minutes
and processor minutes for each step, beside the goals for a machine of two cores that has never
built the project; a step above its goal gets a line that begins with "warning:". The last line is
the sum of what the commands counted: `N passed, N failed, N skipped`. FILE keeps the steps as JSON
lines.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from paddle_tools.runner.report import cpu_seconds

# (elapsed minutes, processor minutes); docs/design/0012-build-times.md says how they were chosen.
GOALS = {"C++ builds": (None, 50), "make test": (30, None), "everything": (60, 95)}
SHOWN_FROM = 3.0  # seconds of either kind: shorter steps are added up in one row

Record = dict[str, Any]


class Row(NamedTuple):
    title: str
    seconds: float
    processor_seconds: float


def read(path: str | Path) -> tuple[list[Record], list[Record]]:
    """(steps, counts) of all runs. A line that a kill cut off is ignored."""
    steps: list[Record] = []
    counts: list[Record] = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return steps, counts
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        (steps if "step" in entry else counts).append(entry)
    return steps, counts


def rows(steps: list[Record], commands: list[Row]) -> list[Row]:
    """The rows of the report, in order."""
    listed = [Row(each["step"], each["seconds"], each["processor_seconds"]) for each in steps]
    table = [row for row in listed if max(row[1:]) >= SHOWN_FROM]
    small = [row for row in listed if max(row[1:]) < SHOWN_FROM]
    if small:
        table.append(total(f"{len(small)} shorter steps", small))
    builds = [row for row in listed if row.title.startswith("build ")]
    return [*table, total("C++ builds", builds), *commands, total("everything", commands)]


def total(title: str, parts: list[Row]) -> Row:
    return Row(title, sum(row.seconds for row in parts),
               sum(row.processor_seconds for row in parts))


def report(table: list[Row]) -> list[str]:
    """The lines to print."""
    lines = [f"{'step':<46}{'minutes':>9}{'goal':>6}{'processor minutes':>19}{'goal':>6}"]
    warnings = []
    for title, seconds, busy in table:
        clock, processor = GOALS.get(title, (None, None))
        lines.append(f"{title[:45]:<46}{seconds / 60:>9.1f}{clock or '':>6}"
                     f"{busy / 60:>19.1f}{processor or '':>6}")
        for took, goal, unit in ((seconds, clock, "minutes"),
                                 (busy, processor, "processor minutes")):
            if goal and took / 60 > goal:
                warnings.append(f"warning: {title} took {took / 60:.1f} {unit}, the goal is {goal}")
    return lines + warnings


def summary(counts: list[Record]) -> str:
    sums = {key: sum(each[key] for each in counts) for key in ("passed", "failed", "skipped")}
    return f"{sums['passed']} passed, {sums['failed']} failed, {sums['skipped']} skipped"


def main(argv: list[str]) -> int:
    if len(argv) < 2 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path, code, commands = argv[0], 0, []
    Path(path).unlink(missing_ok=True)
    for command in argv[1:]:
        start, busy = time.monotonic(), cpu_seconds()
        code = subprocess.run(command.split(), check=False,
                              env={**os.environ, "PADDLE_TIMES": os.path.abspath(path)}).returncode
        commands.append(Row(command, time.monotonic() - start, cpu_seconds() - busy))
        if code != 0:
            break
    steps, counts = read(path)
    print("\n".join(["", *report(rows(steps, commands)), summary(counts)]), flush=True)
    return code
