# SPDX-License-Identifier: Apache-2.0
"""The runner must not lose a failure: false test programs that pass, fail, skip, crash and hang."""
import contextlib
import io
import json
import signal
import tempfile
import threading
import time
import unittest
from pathlib import Path

from paddle_tools.runner import gtest, process
from paddle_tools.runner.report import TestReport

PASS = {"name": "Good", "status": "RUN", "result": "COMPLETED"}
FAIL = {"name": "Bad", "status": "RUN", "result": "COMPLETED",
        "failures": [{"failure": "x_test.cc:7\nExpected: 1\n  Actual: 2", "type": ""}]}
SKIP = {"name": "Absent", "status": "RUN", "result": "SKIPPED"}


def false_program(top, script, cases):
    """A shell script in the place of a test program; `publish` writes its report of these cases."""
    document = Path(top) / "cases.json"
    document.write_text(json.dumps({"testsuites": [{"name": "S", "testsuite": list(cases)}]}))
    program = Path(top) / "x_test"
    program.write_text(f'#!/bin/sh\nreport="${{1#--gtest_output=json:}}"\n'
                       f'publish() {{ cp "{document}" "$report"; }}\n{script}\n')
    program.chmod(0o755)
    return gtest.TestProgram("x_test", str(program))


class Runner(unittest.TestCase):
    def run_program(self, script, cases=(), limit=60):
        """Runs a false program by itself; $report is where its JSON goes."""
        with tempfile.TemporaryDirectory() as top:
            program = false_program(top, script, cases)
            report, out = TestReport(), io.StringIO()
            with contextlib.redirect_stdout(out):
                gtest.run_program(report, Path(top), "dev", program, limit, {}, ())
                code = report.finish(ci=False)
            return report, code, out.getvalue()

    def test_good_tests_are_counted(self):
        report, code, out = self.run_program("publish", [PASS, PASS])
        self.assertEqual((report.passed, code), (2, 0))
        self.assertEqual(out.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_failure_shows_its_words_and_how_to_see_it_again(self):
        _, code, out = self.run_program("publish; exit 1", [PASS, FAIL])
        self.assertEqual(code, 1)
        self.assertIn("Actual: 2", out)
        self.assertIn("--gtest_filter=S.Bad", out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 1 failed, 0 skipped")

    def test_a_skip_has_its_reason(self):
        script = ("publish; echo '[ RUN      ] S.Absent'; echo 'x_test.cc:9: Skipped'; "
                  "echo 'no such device'; echo '[  SKIPPED ] S.Absent (0 ms)'")
        _, code, out = self.run_program(script, [SKIP])
        self.assertEqual(code, 0)
        self.assertIn("no such device", out)
        self.assertEqual(out.splitlines()[-1], "0 passed, 0 failed, 1 skipped")

    def test_a_large_program_runs_in_shards_that_are_repeated_without_them(self):
        with tempfile.TemporaryDirectory() as top:
            program = false_program(top, "publish; exit 1",
                                    [PASS, FAIL])
            program.shard = 1
            report, out = TestReport(), io.StringIO()
            with contextlib.redirect_stdout(out):
                gtest.run_program(report, Path(top), "dev", program, 60, {"A": "b"}, ())
            self.assertIn("dev/x_test-1: 1 passed, 1 failed", out.getvalue())
            repeat = next(each for each in out.getvalue().splitlines() if "reproduce:" in each)
            self.assertIn("A=b", repeat)
            self.assertNotIn("GTEST_", repeat)
            self.assertEqual(program.shard_env["GTEST_TOTAL_SHARDS"], str(gtest.CORES))

    def test_programs_with_many_cases_are_split_and_run_first(self):
        with tempfile.TemporaryDirectory() as top:
            few = false_program(top, "echo S.; echo '  Case'", [])
            many = Path(top) / "many_test"
            many.write_text("#!/bin/sh\necho S.; for i in $(seq 150); do echo \"  Case$i\"; done\n")
            many.chmod(0o755)
            split = gtest.split_large([few, gtest.TestProgram("many_test", str(many))])
        self.assertEqual([each.run_name for each in split],
                         [f"many_test-{i}" for i in range(gtest.CORES)] + ["x_test"])

    def test_a_crash_is_a_failure_and_what_passed_before_still_counts(self):
        script = "echo; echo '[       OK ] S.Good (0 ms)'; echo last words; kill -SEGV $$"
        _, code, out = self.run_program(script)
        self.assertEqual(code, 1)
        self.assertIn("died of SIGSEGV", out)
        self.assertIn("last words", out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 1 failed, 0 skipped")

    def test_one_that_hangs_is_killed(self):
        _, code, out = self.run_program("sleep 1000", limit=1)
        self.assertEqual(code, 1)
        self.assertIn("killed after 1 s", out)

    def test_a_bad_exit_after_good_tests_is_a_failure(self):
        _, code, out = self.run_program("publish; echo a leak; exit 23", [PASS])
        self.assertEqual(code, 1)
        self.assertIn("exit code 23", out)
        self.assertIn("a leak", out)

    def test_a_report_cut_off_is_a_failure(self):
        _, code, _ = self.run_program("head -c 20 /dev/zero > $report")
        self.assertEqual(code, 1)


class Alone(unittest.TestCase):
    def look(self, alone):
        """A program that fails beside others, and ends with this code by itself."""
        with tempfile.TemporaryDirectory() as top:
            script = f"[ $1 != --gtest_filter=S.Bad ] || exit {alone}; publish; exit 1"
            program = false_program(top, script, [PASS, FAIL])
            report, out = TestReport(), io.StringIO()
            with contextlib.redirect_stdout(out):
                gtest.run_programs(report, Path(top), "dev", [program], 60, rerun_alone=True)
                code = report.finish(ci=False)
            return code, out.getvalue()

    def test_a_failure_that_needs_company_is_a_failure_and_says_so(self):
        code, out = self.look(alone=0)
        self.assertEqual(code, 1)
        self.assertIn("it fails beside others only", out)
        self.assertEqual(out.splitlines()[-1], "1 passed, 1 failed, 0 skipped")

    def test_one_that_needs_none_says_that(self):
        code, out = self.look(alone=1)
        self.assertEqual(code, 1)
        self.assertIn("fails by itself too", out)


def runs(state):
    """Whether the process with this /proc/PID/stat is alive."""
    try:
        return state.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


class Stop(unittest.TestCase):
    def test_kill_all_ends_the_running_programs_and_their_children(self):
        with tempfile.TemporaryDirectory() as top:
            mark, ended = Path(top) / "pid", []
            thread = threading.Thread(target=lambda: ended.append(process.run(
                ["sh", "-c", f"sleep 1000 & echo $! > {mark}; wait"], Path(top) / "log", 60)))
            thread.start()
            while not (mark.exists() and mark.read_text().strip()):
                time.sleep(0.01)
            process.kill_all()
            thread.join(30)
            self.assertEqual([code for code, _ in ended], [-signal.SIGKILL])
            state = Path(f"/proc/{mark.read_text().strip()}/stat")
            while runs(state):  # the kernel ends a killed process in its own time
                time.sleep(0.01)


class ExitCode(unittest.TestCase):
    def finish(self, ci, **skip):
        report = TestReport()
        report.add_passed(3)
        report.add_skipped("t", "it is not there", 2, **skip)
        with contextlib.redirect_stdout(io.StringIO()):
            return report.finish(ci)

    def test_a_missing_component_fails_a_ci_run_and_no_other(self):
        self.assertEqual(self.finish(ci=False, missing=True), 0)
        self.assertEqual(self.finish(ci=True, missing=True), 1)
        self.assertEqual(self.finish(ci=True), 0)


if __name__ == "__main__":
    unittest.main()
