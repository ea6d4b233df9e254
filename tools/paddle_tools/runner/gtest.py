# SPDX-License-Identifier: Apache-2.0
"""Builds presets and runs their GoogleTest programs, several at once."""
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from paddle_tools.runner import process as children

CORES = len(os.sched_getaffinity(0))


@dataclass
class Program:
    name: str
    path: str
    labels: list = field(default_factory=list)


def build(tally, top, preset):
    """Configures and builds; a failure is counted and shown. True when everything was built."""
    logs = Path(top) / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"build-{preset}.log"
    with tally.step(f"build {preset}"):
        # Paths relative to the tree: another checkout finds the same compilations in the cache.
        env = {**os.environ, "CCACHE_BASEDIR": str(top), "CCACHE_NOHASHDIR": "1"}
        steps = (["cmake", "--preset", preset], ["ninja", "-C", f"build/{preset}", "-k", "0"])
        for argv in steps:
            if children.build_step(argv, log, env, top) != 0:
                tally.fails(f"build {preset}", "does not build", errors_in(log),
                            children.command_line(argv))
                return False
    return True


def errors_in(log):
    """The first compiler errors of a build log, or its end when there are none."""
    lines = Path(log).read_text(errors="replace").splitlines()
    found = [i for i, line in enumerate(lines)
             if re.search(r"(?:error|Error)[: ]|undefined reference|FAILED:", line)]
    if not found:
        return "\n".join(lines[-30:])
    shown = sorted({j for i in found[:12] for j in range(i, min(i + 4, len(lines)))})
    return "\n".join(lines[j][:300] for j in shown)


def listed(top, preset, label):
    """The test programs of a build with a label, as CTest knows them."""
    done = subprocess.run(["ctest", "--show-only=json-v1"], cwd=Path(top) / "build" / preset,
                          capture_output=True, text=True, check=True)
    found = []
    for test in json.loads(done.stdout)["tests"]:
        labels = next((each["value"] for each in test.get("properties", [])
                       if each["name"] == "LABELS"), [])
        if label in labels:
            path = test.get("command", [str(Path(top) / "build" / preset / "tests" / test["name"])])[0]
            found.append(Program(test["name"], path, labels))
    return found


def count_cases(program):
    done = subprocess.run([program.path, "--gtest_list_tests"], capture_output=True, text=True,
                          check=False, env=children.test_environment())
    return max(1, sum(line.startswith("  ") for line in done.stdout.splitlines()))


def run_all(tally, top, preset, programs, limit, env=None, prefix=(), jobs=CORES, look_alone=False):
    """look_alone: what failed beside others is run again by itself, to say whether it needs company
    to fail. It has failed all the same."""
    logs = Path(top) / "build" / "logs" / preset
    logs.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        runs = [pool.submit(run_one, tally, logs, preset, each, limit, env or {}, prefix)
                for each in programs]
        failed = [(each, case) for each, done in zip(programs, runs) for case in done.result()]
    if not look_alone:
        return
    for program, case in failed:
        log = logs / f"{program.name}-alone.log"
        code, _ = children.run([*prefix, program.path, f"--gtest_filter={case}"], log, limit,
                               env=children.test_environment(**(env or {})))
        tally.note(f"{preset}/{program.name} {case}",
                   "passes by itself: it fails beside others only" if code == 0
                   else "fails by itself too")


def run_one(tally, logs, preset, program, limit, env, prefix):
    """Counts every test case of one program; the names of those that failed."""
    log = logs / f"{program.name}.log"
    report = logs / f"{program.name}.json"
    report.unlink(missing_ok=True)
    argv = [*prefix, program.path]
    name = f"{preset}/{program.name}"
    code, took = children.run([*argv, f"--gtest_output=json:{report}"], log, limit,
                              env=children.test_environment(**env))
    cases = read_report(report)
    if cases is None:  # it did not come to its end
        finished = children.tail(log, 10**6).count("\n[       OK ]")
        tally.passes(finished)
        tally.fails(name, f"{children.how_it_ended(code, limit)} after {finished} good tests",
                    children.tail(log), children.command_line(argv, env))
        return []
    failed = [case for case in cases if case[1] == "failed"]
    skipped = [case for case in cases if case[1] == "skipped"]
    good = len(cases) - len(failed) - len(skipped)
    tally.passes(good)
    for case, _, why in skipped:
        tally.skip(f"{name} {case}", why or skip_reason(log, case))
    for case, _, why in failed:
        tally.fails(f"{name} {case}", first_line(why), why + f"\nlog: {log}",
                    children.command_line([*argv, f"--gtest_filter={case}"], env))
    if code != 0 and not failed:  # e.g. a sanitizer's report at exit
        tally.fails(name, f"all tests pass, but {children.how_it_ended(code, limit)}",
                    children.tail(log), children.command_line(argv, env))
    tally.say(f"   {name}: {good} passed, {len(failed)} failed, {len(skipped)} skipped, {took:.1f} s")
    return [case for case, _, _ in failed]


def read_report(path):
    """[(case, passed|failed|skipped, why)], or nothing when the report is absent or cut off."""
    try:
        report = json.loads(Path(path).read_text())
    except (OSError, ValueError):
        return None
    cases = []
    for suite in report.get("testsuites", []):
        for case in suite.get("testsuite", []):
            name = f"{suite['name']}.{case['name']}"
            if case.get("failures"):
                why = "\n".join(each.get("failure", "") for each in case["failures"])
                cases.append((name, "failed", why))
            elif case.get("result") == "SKIPPED":
                why = "; ".join(each.get("message", "") for each in case.get("skipped", []))
                cases.append((name, "skipped", why))
            elif case.get("status") == "RUN":
                cases.append((name, "passed", ""))
    return cases


def skip_reason(log, case):
    """GoogleTest 1.12 writes the reason to its output only: the lines between RUN and SKIPPED."""
    lines = children.tail(log, 10**6).splitlines()
    start = next((i for i, line in enumerate(lines) if line.endswith(f"] {case}")), None)
    if start is None:
        return "no reason given"
    reason = []
    for line in lines[start + 1:]:
        if line.startswith("[  SKIPPED ]"):
            break
        if not re.search(r":\d+: Skipped$", line):
            reason.append(line.strip())
    return " ".join(filter(None, reason)) or "no reason given"


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:160] if lines else "failed"
