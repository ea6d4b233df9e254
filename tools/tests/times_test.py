# SPDX-License-Identifier: Apache-2.0
"""The time report names what is above its goal, and loses neither a failure nor a count."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from paddle_tools.paths import TOOLS
from paddle_tools.runner import times


class Times(unittest.TestCase):
    def run_commands(self, *scripts):
        with tempfile.TemporaryDirectory() as top:
            commands = []
            for at, script in enumerate(scripts):
                path = Path(top) / f"command{at}"
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
                commands.append(str(path))
            done = subprocess.run([TOOLS / "times", Path(top) / "times", *commands], check=False,
                                  capture_output=True, text=True)
            return done.returncode, done.stdout

    def test_steps_and_counts_of_all_commands_are_summed_up(self):
        step = """echo '{"step": "build dev", "seconds": 60, "processor_seconds": 90}' """
        count = """echo '{"passed": 3, "failed": 0, "skipped": 1}' """
        code, out = self.run_commands(f"{step} >> $PADDLE_TIMES; {count} >> $PADDLE_TIMES",
                                      f"{count} >> $PADDLE_TIMES")
        self.assertEqual(code, 0)
        self.assertIn("build dev", out)
        self.assertEqual(out.splitlines()[-1], "6 passed, 0 failed, 2 skipped")

    def test_a_failure_ends_it_with_its_exit_code_and_still_reports(self):
        code, out = self.run_commands("exit 3", "echo never")
        self.assertEqual(code, 3)
        self.assertNotIn("never", out)
        self.assertIn("everything", out)

    def test_a_line_cut_off_by_a_kill_is_left_out(self):
        code, out = self.run_commands("""printf '{"step": "bui' >> $PADDLE_TIMES""")
        self.assertEqual((code, out.splitlines()[-1]), (0, "0 passed, 0 failed, 0 skipped"))

    def test_what_a_run_starts_adds_nothing_to_its_counts(self):
        with tempfile.TemporaryDirectory() as top:
            inner, outer = Path(top) / "inner.py", Path(top) / "outer.py"
            note = ("import sys\nfrom paddle_tools.runner import report\n"
                    "report.append_record(passed=1, failed=0, skipped=0)\n")
            inner.write_text(note)
            outer.write_text(note + "import subprocess\n"
                             f"inner = {str(inner)!r}\n"
                             "subprocess.run([sys.executable, '-B', inner], check=True)\n")
            code, out = self.run_commands(
                f"PYTHONPATH={TOOLS} exec {sys.executable} -B {outer}")
        self.assertEqual((code, out.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_what_is_above_its_goal_is_a_warning(self):
        lines = times.report([("everything", 61 * 60, 94 * 60), ("make test", 29 * 60, 0)])
        warnings = [line for line in lines if line.startswith("warning:")]
        self.assertEqual(warnings, ["warning: everything took 61.0 minutes, the goal is 60"])

    def test_builds_are_one_row_beside_their_goal(self):
        steps = [{"step": f"build {name}", "seconds": 600, "processor_seconds": 1200}
                 for name in ("release", "asan", "tsan")]
        table = times.rows(steps, [times.Row("make test", 2000, 4000)])
        self.assertIn(("C++ builds", 1800, 3600), table)
        self.assertIn("warning: C++ builds took 60.0 processor minutes, the goal is 50",
                      times.report(table))


if __name__ == "__main__":
    unittest.main()
