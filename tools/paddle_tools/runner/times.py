# SPDX-License-Identifier: Apache-2.0
"""Runs commands one after the other, then reports how long each of their steps took.

    tools/times FILE COMMAND...    e.g. tools/times build/times.jsonl "make test" "make e2e-core"

Stops at the first command that fails, and ends with its exit code. The report has minutes by the
clock and processor minutes per step, beside the goals for a machine of two cores that has never seen
the project; what is above a goal is a line that begins with "warning:". The last line is the sum of
what the commands counted: `N passed, N failed, N skipped`. FILE keeps the steps as JSON lines.
"""
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

# (what, minutes by the clock, processor minutes); docs/design/0012-build-times.md says how they came.
GOALS = {"C++ builds": (None, 50), "make test": (30, None), "everything": (60, 95)}
SHOWN_FROM = 3.0  # seconds of either kind: shorter steps are summed up in one row


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read(path):
    """The steps and the counts that runs have noted; a line cut off by a kill is left out."""
    steps, counts = [], []
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


def rows(steps, commands):
    """[(title, seconds, processor seconds)] in the report's order."""
    listed = [(each["step"], each["seconds"], each["processor_seconds"]) for each in steps]
    table = [row for row in listed if max(row[1:]) >= SHOWN_FROM]
    small = [row for row in listed if max(row[1:]) < SHOWN_FROM]
    if small:
        table.append((f"{len(small)} shorter steps", sum(row[1] for row in small),
                      sum(row[2] for row in small)))
    builds = [row for row in listed if row[0].startswith("build ")]
    table.append(("C++ builds", sum(row[1] for row in builds), sum(row[2] for row in builds)))
    table += commands
    table.append(("everything", sum(row[1] for row in commands), sum(row[2] for row in commands)))
    return table


def report(table):
    """The lines to print."""
    lines = [f"{'step':<46}{'minutes':>9}{'goal':>6}{'processor minutes':>19}{'goal':>6}"]
    warnings = []
    for title, seconds, busy in table:
        clock, processor = GOALS.get(title, (None, None))
        lines.append(f"{title[:45]:<46}{seconds / 60:>9.1f}{clock or '':>6}"
                     f"{busy / 60:>19.1f}{processor or '':>6}")
        for took, goal, unit in ((seconds, clock, "minutes"), (busy, processor, "processor minutes")):
            if goal and took / 60 > goal:
                warnings.append(f"warning: {title} took {took / 60:.1f} {unit}, the goal is {goal}")
    return lines + warnings


def closing(counts):
    total = {key: sum(each[key] for each in counts) for key in ("passed", "failed", "skipped")}
    return f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped"


def main(argv):
    if len(argv) < 2 or argv[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    path, code, commands = argv[0], 0, []
    Path(path).unlink(missing_ok=True)
    for command in argv[1:]:
        start, busy = time.monotonic(), processor_time()
        code = subprocess.run(command.split(), check=False,
                              env={**os.environ, "PADDLE_TIMES": os.path.abspath(path)}).returncode
        commands.append((command, time.monotonic() - start, processor_time() - busy))
        if code != 0:
            break
    steps, counts = read(path)
    print("\n".join(["", *report(rows(steps, commands)), closing(counts)]), flush=True)
    return code
