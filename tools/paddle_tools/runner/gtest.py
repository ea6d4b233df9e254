# SPDX-License-Identifier: Apache-2.0
"""Builds CMake presets and runs their GoogleTest programs, several at once."""
import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from paddle_tools.runner import process
from paddle_tools.runner.report import TestReport

CORES = len(os.sched_getaffinity(0))
CASES_WORTH_SHARDS = 100


@dataclass
class TestProgram:
    name: str
    path: str
    labels: list[str] = field(default_factory=list)
    shard: int | None = None  # of CORES; None: all cases

    @property
    def run_name(self) -> str:
        return self.name if self.shard is None else f"{self.name}-{self.shard}"

    @property
    def shard_env(self) -> dict[str, str]:
        if self.shard is None:
            return {}
        return {"GTEST_TOTAL_SHARDS": str(CORES), "GTEST_SHARD_INDEX": str(self.shard)}


class TestCase(NamedTuple):
    name: str
    result: str  # passed, failed or skipped
    reason: str


def build(report: TestReport, top: Path, preset: str, targets: Sequence[str] = ()) -> bool:
    """Configures and builds a preset, or some of its targets. Reports a failure; returns whether
    everything was built."""
    logs = top / "build" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    log = logs / f"build-{preset}.log"
    with report.step(f"build {preset}"):
        # Paths relative to the tree: another checkout finds the same compilations in the cache.
        env = {**os.environ, "CCACHE_BASEDIR": str(top), "CCACHE_NOHASHDIR": "1"}
        steps = (["cmake", "--preset", preset],
                 ["ninja", "-C", f"build/{preset}", "-k", "0", *targets])
        for argv in steps:
            if process.run_build(argv, log, env, top) != 0:
                report.add_failure(f"build {preset}", "does not build", first_errors(log),
                                   process.command_line(argv))
                return False
    return True


def first_errors(log: Path) -> str:
    """The first compiler errors of a build log, or its end when there are none."""
    lines = log.read_text(errors="replace").splitlines()
    found = [i for i, line in enumerate(lines)
             if re.search(r"(?:error|Error)[: ]|undefined reference|FAILED:", line)]
    if not found:
        return "\n".join(lines[-30:])
    shown = sorted({j for i in found[:12] for j in range(i, min(i + 4, len(lines)))})
    return "\n".join(lines[j][:300] for j in shown)


def list_programs(top: Path, preset: str, label: str) -> list[TestProgram]:
    """The test programs of a build that have a label, as CTest lists them."""
    done = subprocess.run(["ctest", "--show-only=json-v1"], cwd=top / "build" / preset,
                          capture_output=True, text=True, check=True)
    found = []
    for test in json.loads(done.stdout)["tests"]:
        labels: list[str] = next((each["value"] for each in test.get("properties", [])
                                  if each["name"] == "LABELS"), [])
        if label in labels:
            path = test.get("command", [str(top / "build" / preset / "tests" / test["name"])])[0]
            found.append(TestProgram(test["name"], path, labels))
    return found


def count_cases(program: TestProgram) -> int:
    done = subprocess.run([program.path, "--gtest_list_tests"], capture_output=True, text=True,
                          check=False, env=process.test_environment())
    return max(1, sum(line.startswith("  ") for line in done.stdout.splitlines()))


def split_large(programs: Sequence[TestProgram]) -> list[TestProgram]:
    """Programs with many cases as one shard per core, before the others: the longest would
    otherwise run alone at the end."""
    large = [each for each in programs if count_cases(each) >= CASES_WORTH_SHARDS]
    shards = [replace(each, shard=i) for each in large for i in range(CORES)]
    return shards + [each for each in programs if each not in large]


def run_programs(report: TestReport, top: Path, preset: str, programs: Sequence[TestProgram],
                 limit: float, env: Mapping[str, str] | None = None,
                 prefix: Sequence[str] = (), jobs: int = CORES,
                 rerun_alone: bool = False) -> None:
    """Runs programs side by side. With `rerun_alone` a failed case is run again by itself, and the
    report notes whether it fails then, too; it counts as failed in both cases."""
    logs = top / "build" / "logs" / preset
    logs.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        runs = [pool.submit(run_program, report, logs, preset, each, limit, env or {}, prefix)
                for each in programs]
        failed = [(each, case) for each, done in zip(programs, runs, strict=True)
                  for case in done.result()]
    if not rerun_alone:
        return
    for program, case in failed:
        log = logs / f"{program.name}-alone.log"
        code, _ = process.run([*prefix, program.path, f"--gtest_filter={case}"], log, limit,
                              env=process.test_environment(**(env or {})))
        report.add_note(f"{preset}/{program.name} {case}",
                        "passes by itself: it fails beside others only" if code == 0
                        else "fails by itself too")


def run_program(report: TestReport, logs: Path, preset: str, program: TestProgram, limit: float,
                env: Mapping[str, str], prefix: Sequence[str]) -> list[str]:
    """Runs one program and reports each of its cases; returns the names of those that failed."""
    log = logs / f"{program.run_name}.log"
    results = logs / f"{program.run_name}.json"
    results.unlink(missing_ok=True)
    argv = [*prefix, program.path]
    name = f"{preset}/{program.run_name}"
    whole = {**env, **program.shard_env}  # a single case is repeated without the shard
    code, took = process.run([*argv, f"--gtest_output=json:{results}"], log, limit,
                             env=process.test_environment(**whole))
    cases = read_results(results)
    if cases is None:  # the program did not reach its end
        finished = process.tail(log, 10**6).count("\n[       OK ]")
        report.add_passed(finished)
        report.add_failure(name,
                           f"{process.describe_exit(code, limit)} after {finished} good tests",
                           process.tail(log), process.command_line(argv, whole))
        return []
    failed = [case for case in cases if case.result == "failed"]
    skipped = [case for case in cases if case.result == "skipped"]
    good = len(cases) - len(failed) - len(skipped)
    report.add_passed(good)
    for case in skipped:
        report.add_skipped(f"{name} {case.name}", case.reason or skip_reason(log, case.name))
    for case in failed:
        report.add_failure(f"{name} {case.name}", first_line(case.reason),
                           case.reason + f"\nlog: {log}",
                           process.command_line([*argv, f"--gtest_filter={case.name}"], env))
    if code != 0 and not failed:  # e.g. a sanitizer's report at exit
        report.add_failure(name, f"all tests pass, but {process.describe_exit(code, limit)}",
                           process.tail(log), process.command_line(argv, whole))
    report.log(f"   {name}: {good} passed, {len(failed)} failed, {len(skipped)} skipped, "
               f"{took:.1f} s")
    return [case.name for case in failed]


def read_results(path: Path) -> list[TestCase] | None:
    """The cases in GoogleTest's JSON; None when the file is absent or cut off."""
    try:
        results = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    cases = []
    for suite in results.get("testsuites", []):
        for case in suite.get("testsuite", []):
            name = f"{suite['name']}.{case['name']}"
            if case.get("failures"):
                reason = "\n".join(each.get("failure", "") for each in case["failures"])
                cases.append(TestCase(name, "failed", reason))
            elif case.get("result") == "SKIPPED":
                reason = "; ".join(each.get("message", "") for each in case.get("skipped", []))
                cases.append(TestCase(name, "skipped", reason))
            elif case.get("status") == "RUN":
                cases.append(TestCase(name, "passed", ""))
    return cases


def skip_reason(log: Path, case: str) -> str:
    """GoogleTest 1.12 writes the reason to its output only: the lines between RUN and SKIPPED."""
    lines = process.tail(log, 10**6).splitlines()
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


def first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return " ".join(lines[:2])[:160] if lines else "failed"
