# SPDX-License-Identifier: Apache-2.0
"""The engine of `make check` and `make test`.

    tools/run_tests check    static checks and unit tests (dev preset)
    tools/run_tests test     everything: checks, unit and integration tests, sanitizers, fuzzers
    tools/run_tests static   the static checks alone
    tools/run_tests fuzz     all fuzz targets for an hour in all; [--seconds N] [TARGET...]
    tools/run_tests soak     random search for an hour: walks; [--seconds N] [--seed N]

The last line is `N passed, N failed, N skipped`. Logs are in build/logs. Settings:
    PADDLE_FUZZ_SECONDS   how long each fuzz target runs in `test` (10)
"""
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS, TOP
from paddle_tools.runner import fuzz, gtest, process, soak
from paddle_tools.runner.report import TestReport

LOGS = TOP / "build" / "logs"
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "versitygw",
              "paddlepaddle", "redis", "juicefs")
# Limits in seconds. They stop programs that hang; they are no expectations of speed.
UNIT_LIMIT, INTEGRATION_LIMIT, SMALL_LIMIT = 600, 1200, 120
FUZZ_SECONDS = int(os.environ.get("PADDLE_FUZZ_SECONDS", "10"))
# The static checks with their limits. The first use of some installs a linter.
CHECKS = {"check_format": SMALL_LIMIT, "check_layers": SMALL_LIMIT, "check_clocks": SMALL_LIMIT,
          "check_sizes": SMALL_LIMIT, "check_words": SMALL_LIMIT, "check_links": SMALL_LIMIT,
          "check_surface": SMALL_LIMIT, "check_reasons": SMALL_LIMIT, "check_python": UNIT_LIMIT,
          "check_shell": SMALL_LIMIT, "check_chart": SMALL_LIMIT, "check_api_doc": SMALL_LIMIT,
          "check_documents": SMALL_LIMIT, "check_tests": SMALL_LIMIT}
# Minutes for a large change, so only `make check` runs it.
CHECK_TIDY = ("check_tidy", INTEGRATION_LIMIT)

# No suppressions: what a sanitizer reports is a bug until it is fixed.
SANITIZERS = {
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:"
                             "strict_string_checks=1:check_initialization_order=1",
             "UBSAN_OPTIONS": "print_stacktrace=1"},
    # Models of a cluster start no thread and take minutes: they run under asan only.
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
             "GTEST_FILTER": "-*/ModelTest.*:*/ModelCoverageTest.*:*/SampleSetModel.*"},
}
# Program in build/<preset>/tests, and what its sanitizer must report about it.
PLANTED = {
    "asan": {"sanity_use_after_free": "AddressSanitizer: heap-use-after-free",
             "sanity_leak": "LeakSanitizer: detected memory leaks",
             "sanity_overflow": "runtime error: signed integer overflow"},
    "tsan": {"sanity_race": "ThreadSanitizer: data race"},
}


def static_checks(report: TestReport) -> None:
    with report.step("static checks"):
        for name, limit in CHECKS.items():
            run_command(report, name, [TOOLS / name], limit)


def run_command(report: TestReport, name: str, argv: process.Argv,
                limit: float = SMALL_LIMIT) -> None:
    """Runs a command that passes or fails as a whole."""
    log = LOGS / f"{name}.log"
    code, _ = process.run(argv, log, limit, cwd=TOP)
    if code == 0:
        report.add_passed()
    else:
        report.add_failure(name, process.describe_exit(code, limit), process.tail(log),
                           process.command_line(argv))


def flags_of_programs(report: TestReport) -> None:
    with report.step("flags of the programs"):
        run_command(report, "check_surface_programs",
                    [TOOLS / "check_surface", "--programs", TOP / "build" / "bin"])


def tools_tests(report: TestReport) -> None:
    with report.step("tests of the tools"):
        for path in sorted((TOOLS / "tests").glob("*_test.py")):
            run_command(report, path.stem, [sys.executable, "-B", path])


class ComponentInstallation:
    """Installs the real components in the background, at low priority."""

    def __init__(self) -> None:
        self._log = LOGS / "components.log"
        with open(self._log, "wb") as out:
            self._child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "nice", "-n", "5", TOOLS / "components",
                 "install", *COMPONENTS], stdout=out, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL)

    def wait(self, report: TestReport) -> bool:
        """Waits for its end; returns whether all components are installed."""
        with report.step("wait for " + ", ".join(COMPONENTS)):
            code = self._child.wait()
        for line in process.tail(self._log, 12).splitlines():
            report.log(f"   {line}")
        return code == 0

    def stop(self) -> None:
        if self._child.poll() is None:
            self._child.terminate()
            self._child.wait()


def unit_tests(report: TestReport, preset: str) -> None:
    with report.step(f"unit tests {preset}"):
        prefix = fixed_addresses() if preset == "tsan" else ()
        programs = gtest.split_large(gtest.list_programs(TOP, preset, "unit"))
        gtest.run_programs(report, TOP, preset, programs, UNIT_LIMIT, SANITIZERS.get(preset),
                           prefix)
        if preset == "tsan":
            report.log("   without the models of clusters, which start no thread")


def fixed_addresses() -> tuple[str, ...]:
    """The command that switches address randomization off, which ThreadSanitizer of g++ 12 needs on
    newer kernels; empty where a container forbids it."""
    argv = ["setarch", os.uname().machine, "-R"]
    works = subprocess.run([*argv, "true"], capture_output=True, check=False).returncode == 0
    return tuple(argv) if works else ()


def planted_bugs(report: TestReport, preset: str) -> None:
    """A planted bug passes when the sanitizer reports it."""
    with report.step(f"planted bugs {preset}"):
        prefix = fixed_addresses() if preset == "tsan" else ()
        for name, expected in PLANTED[preset].items():
            log = LOGS / f"{name}.log"
            argv: list[str | Path] = [*prefix, TOP / "build" / preset / "tests" / name]
            code, _ = process.run(argv, log, SMALL_LIMIT,
                                  env=process.test_environment(**SANITIZERS[preset]))
            output = process.tail(log, 1000)
            if code not in (0, None) and expected in output:
                report.add_passed()
            else:
                report.add_failure(name, f"the sanitizer did not report '{expected}'",
                                   output[-2000:], process.command_line(argv, SANITIZERS[preset]))


def planted_thread_safety(report: TestReport) -> None:
    """The asan preset, built by clang, refuses a read without its lock and accepts it with."""
    name = "planted bug for thread-safety analysis"
    commands = json.loads((TOP / "build/asan/compile_commands.json").read_text())
    model = next(each for each in commands if "paddle_base.dir" in each["command"])
    words = shlex.split(model["command"])
    words = [word for word in words[:words.index("-o")] if "ccache" not in word]
    log = LOGS / "planted-thread-safety.log"
    argv = [*words, "-fsyntax-only", str(TOP / "test/sanity/unguarded.cc")]
    locked, _ = process.run([*argv, "-DLOCKED"], log, SMALL_LIMIT, cwd=model["directory"])
    if locked != 0:
        report.add_failure(name, "does not compile even with the lock", process.tail(log))
        return
    unlocked, _ = process.run(argv, log, SMALL_LIMIT, cwd=model["directory"])
    if unlocked != 0 and "requires holding mutex" in process.tail(log):
        report.add_passed()
    else:
        report.add_failure(name, "clang did not refuse it", process.tail(log),
                           process.command_line(argv))


def integration_tests(report: TestReport, components: ComponentInstallation) -> None:
    programs = gtest.list_programs(TOP, "release", "integration")
    if not components.wait(report):
        for each in programs:
            report.add_skipped(f"release/{each.name}",
                               "a component could not be installed, see build/logs/components.log",
                               gtest.count_cases(each), missing=True)
        return
    with report.step("manifests"):
        run_command(report, "manifests", [TOOLS / "manifests", "--check"])
    with report.step("integration tests"):
        # One more than there are cores: tests of leases and watches mostly wait.
        gtest.run_programs(report, TOP, "release", programs, INTEGRATION_LIMIT,
                           jobs=gtest.CORES + 1, rerun_alone=True)
    with report.step("quickstart, with the programs just built"):
        run_command(report, "quickstart", [TOOLS / "quickstart", "--built"], INTEGRATION_LIMIT)


def check(report: TestReport) -> None:
    static_checks(report)
    name, limit = CHECK_TIDY
    with report.step("clang-tidy on what changed"):
        run_command(report, name, [TOOLS / name], limit)
    if gtest.build(report, TOP, "dev"):
        unit_tests(report, "dev")


def test(report: TestReport) -> None:
    components = ComponentInstallation()
    try:
        static_checks(report)
        tools_tests(report)
        # Unit tests run under both sanitizers; the release build is for the integration tests.
        released = gtest.build(report, TOP, "release")
        if released:
            flags_of_programs(report)
        for preset in ("asan", "tsan"):
            if gtest.build(report, TOP, preset):
                planted_bugs(report, preset)
                unit_tests(report, preset)
                if preset == "asan":  # built by clang: thread-safety analysis and libFuzzer
                    planted_thread_safety(report)
                    fuzz.run_all(report, FUZZ_SECONDS)
        if released:
            integration_tests(report, components)
    finally:
        components.stop()


def stop(number: int, _frame: FrameType | None) -> NoReturn:
    """Ends the run at once. Builds and the installation of components end with this process."""
    print(f"stopped by {signal.Signals(number).name}: nothing of this run counts", file=sys.stderr,
          flush=True)
    process.kill_all()
    os._exit(128 + number)


def long_fuzz(report: TestReport, argv: list[str]) -> None:
    options = fuzz.parse(argv)
    if gtest.build(report, TOP, "asan", ["all_fuzzers"]):
        fuzz.run_selected(report, options)


def long_soak(report: TestReport, argv: list[str]) -> int:
    """As the other modes, with seeds and counts in the last line."""
    found = soak.run(report, soak.parse(argv))
    code = report.finish(ci=False)
    print(found, flush=True)
    return code


MODES = {"check": check, "test": test, "static": static_checks}


def main(argv: list[str]) -> int:
    if not (argv[:1] in (["fuzz"], ["soak"]) or (len(argv) == 1 and argv[0] in MODES)):
        print(__doc__, file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    report = TestReport()
    if argv[0] in ("fuzz", "soak"):
        try:
            if argv[0] == "soak":
                return long_soak(report, argv[1:])
            long_fuzz(report, argv[1:])
        except ToolError as failure:
            print(failure, file=sys.stderr)
            return 2
    else:
        MODES[argv[0]](report)
    return report.finish(ci=os.environ.get("CI") == "true")
