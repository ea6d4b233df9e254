# SPDX-License-Identifier: Apache-2.0
"""The engine of `make check` and `make test`.

    tools/run_tests check    static checks and unit tests (dev preset)
    tools/run_tests test     everything: checks, unit and integration tests, sanitizers, fuzzers

The last line is `N passed, N failed, N skipped`. Logs are in build/logs. Settings:
    PADDLE_FUZZ_SECONDS   how long each fuzz target runs (10)
"""
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from paddle_tools.paths import TOOLS, TOP
from paddle_tools.runner import gtest as programs
from paddle_tools.runner import process as children
from paddle_tools.runner.report import Tally

LOGS = TOP / "build" / "logs"

CHECKS = ("check_format", "check_layers", "check_clocks", "check_sizes", "check_words",
          "check_links")
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "versitygw",
              "paddlepaddle", "redis", "juicefs")
# Guards against hanging, not expectations of speed.
UNIT_LIMIT, INTEGRATION_LIMIT, SMALL_LIMIT = 600, 1200, 120
FUZZ_SECONDS = int(os.environ.get("PADDLE_FUZZ_SECONDS", "10"))

# No suppressions: what a sanitizer says is a bug until it is fixed.
SANITIZERS = {
    "asan": {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:"
                             "strict_string_checks=1:check_initialization_order=1",
             "UBSAN_OPTIONS": "print_stacktrace=1"},
    "tsan": {"TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1"},
}
# Program in build/<preset>/tests, and what its sanitizer must say about it.
PLANTED = {
    "asan": {"sanity_use_after_free": "AddressSanitizer: heap-use-after-free",
             "sanity_leak": "LeakSanitizer: detected memory leaks",
             "sanity_overflow": "runtime error: signed integer overflow"},
    "tsan": {"sanity_race": "ThreadSanitizer: data race"},
}


def static_checks(tally):
    with tally.step("static checks"):
        for name in CHECKS:
            small_step(tally, name, [TOOLS / name])


def small_step(tally, name, argv, limit=SMALL_LIMIT):
    """A command that passes or fails as one."""
    log = LOGS / f"{name}.log"
    code, _ = children.run(argv, log, limit, cwd=TOP)
    if code == 0:
        tally.passes()
    else:
        tally.fails(name, children.how_it_ended(code, limit), children.tail(log),
                    children.command_line(argv))


def tools_tests(tally):
    with tally.step("tests of the tools"):
        for path in sorted((TOOLS / "tests").glob("*_test.py")):
            small_step(tally, path.stem, [sys.executable, "-B", path])


class Components:
    """Installs the real components beside everything else, at low priority."""

    def __init__(self):
        self._log = LOGS / "components.log"
        self._start = time.monotonic()
        with open(self._log, "wb") as out:
            self._child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "nice", "-n", "5", TOOLS / "components",
                 "install", *COMPONENTS], stdout=out, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL)

    def ready(self, tally):
        """True when all are installed; waits for that."""
        with tally.step("wait for " + ", ".join(COMPONENTS)):
            code = self._child.wait()
        for line in children.tail(self._log, 12).splitlines():
            tally.say(f"   {line}")
        return code == 0

    def end(self):
        if self._child.poll() is None:
            self._child.terminate()
            self._child.wait()


def unit_tests(tally, preset):
    with tally.step(f"unit tests {preset}"):
        prefix = fixed_addresses() if preset == "tsan" else ()
        programs.run_all(tally, TOP, preset, programs.listed(TOP, preset, "unit"), UNIT_LIMIT,
                         SANITIZERS.get(preset), prefix)


def fixed_addresses():
    """ThreadSanitizer of g++ 12 does not know the address layout that newer kernels randomize to.
    Where a container forbids to switch that off, it has to do without."""
    argv = ["setarch", os.uname().machine, "-R"]
    works = subprocess.run([*argv, "true"], capture_output=True, check=False).returncode == 0
    return tuple(argv) if works else ()


def planted_bugs(tally, preset):
    """Passes when the sanitizer's report appears."""
    with tally.step(f"planted bugs {preset}"):
        prefix = fixed_addresses() if preset == "tsan" else ()
        for name, report in PLANTED[preset].items():
            log = LOGS / f"{name}.log"
            argv = [*prefix, TOP / "build" / preset / "tests" / name]
            code, _ = children.run(argv, log, SMALL_LIMIT,
                                   env=children.test_environment(**SANITIZERS[preset]))
            said = children.tail(log, 1000)
            if code not in (0, None) and report in said:
                tally.passes()
            else:
                tally.fails(name, f"the sanitizer did not say '{report}'", said[-2000:],
                            children.command_line(argv, SANITIZERS[preset]))


def planted_thread_safety(tally):
    """The asan preset, built by clang, refuses a read without its lock and accepts it with."""
    name = "planted bug for thread-safety analysis"
    commands = json.loads((TOP / "build/asan/compile_commands.json").read_text())
    model = next(each for each in commands if "paddle_base.dir" in each["command"])
    words = shlex.split(model["command"])
    words = [word for word in words[:words.index("-o")] if "ccache" not in word]
    log = LOGS / "planted-thread-safety.log"
    argv = [*words, "-fsyntax-only", str(TOP / "test/sanity/unguarded.cc")]
    locked, _ = children.run([*argv, "-DLOCKED"], log, SMALL_LIMIT, cwd=model["directory"])
    if locked != 0:
        tally.fails(name, "does not compile even with the lock", children.tail(log))
        return
    unlocked, _ = children.run(argv, log, SMALL_LIMIT, cwd=model["directory"])
    if unlocked != 0 and "requires holding mutex" in children.tail(log):
        tally.passes()
    else:
        tally.fails(name, "clang did not refuse it", children.tail(log), children.command_line(argv))


def fuzz(tally):
    targets = sorted(each for each in (TOP / "build/asan/fuzz").glob("*_fuzz")
                     if os.access(each, os.X_OK))
    if not targets:
        tally.fails("fuzz", "the asan preset built no target", reproduce="ls build/asan/fuzz")
    with tally.step(f"fuzz {len(targets)} targets for {FUZZ_SECONDS} s each"):
        with ThreadPoolExecutor(max_workers=programs.CORES) as pool:
            list(pool.map(lambda target: fuzz_one(tally, target), targets))


def fuzz_one(tally, target):
    """What a target finds stays in build/corpus for the next run; seeds are in test/fuzz."""
    found = TOP / "build" / "corpus" / target.name
    found.mkdir(parents=True, exist_ok=True)
    seeds = [each for each in (TOP / "test" / "fuzz" / target.name,) if each.is_dir()]
    crashes = LOGS / "crashes"
    crashes.mkdir(exist_ok=True)
    log = LOGS / f"{target.name}.log"
    limit = FUZZ_SECONDS + SMALL_LIMIT
    code, _ = children.run(
        [target, f"-max_total_time={FUZZ_SECONDS}", "-timeout=20", "-rss_limit_mb=2048",
         "-print_final_stats=1", f"-artifact_prefix={crashes}/{target.name}-", found, *seeds],
        log, limit, env=children.test_environment())
    if code == 0:
        tally.passes()
        return
    said = children.tail(log, 1000)
    marker = "Test unit written to "
    artifact = next((line.split(marker)[1] for line in said.splitlines() if marker in line), None)
    tally.fails(target.name, children.how_it_ended(code, limit), children.tail(log),
                children.command_line([target, artifact] if artifact else [target, found]))


def integration_tests(tally, components):
    wanted = programs.listed(TOP, "release", "integration")
    if not components.ready(tally):
        for each in wanted:
            tally.skip(f"release/{each.name}",
                       "a component could not be installed, see build/logs/components.log",
                       programs.count_cases(each), missing=True)
        return
    with tally.step("manifests"):
        small_step(tally, "manifests", [TOOLS / "manifests", "--check"])
    with tally.step("integration tests"):
        # One more than there are cores: leases and watches mostly wait.
        programs.run_all(tally, TOP, "release", wanted, INTEGRATION_LIMIT,
                         jobs=programs.CORES + 1, look_alone=True)
    with tally.step("quickstart, with the programs just built"):
        small_step(tally, "quickstart", [TOOLS / "quickstart", "--built"], INTEGRATION_LIMIT)


def check(tally):
    static_checks(tally)
    if programs.build(tally, TOP, "dev"):
        unit_tests(tally, "dev")


def test(tally):
    components = Components()
    try:
        static_checks(tally)
        tools_tests(tally)
        # Unit tests run under both sanitizers; the release build is for the integration tests.
        released = programs.build(tally, TOP, "release")
        for preset in ("asan", "tsan"):
            if programs.build(tally, TOP, preset):
                planted_bugs(tally, preset)
                unit_tests(tally, preset)
                if preset == "asan":  # built by clang: thread-safety analysis and libFuzzer
                    planted_thread_safety(tally)
                    fuzz(tally)
        if released:
            integration_tests(tally, components)
    finally:
        components.end()


def stop(number, _frame):
    """At once, without the tests that wait their turn; builds and components end with us."""
    print(f"stopped by {signal.Signals(number).name}: nothing of this run counts", file=sys.stderr,
          flush=True)
    children.end_all()
    os._exit(128 + number)


def main(argv):
    if argv not in (["check"], ["test"]):
        print(__doc__, file=sys.stderr)
        return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    tally = Tally()
    {"check": check, "test": test}[argv[0]](tally)
    return tally.finish(ci=os.environ.get("CI") == "true")
