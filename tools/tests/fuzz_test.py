# SPDX-License-Identifier: Apache-2.0
"""Fuzzing must not lose a crash, and every target has seeds and a dictionary."""
import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.runner import fuzz
from paddle_tools.runner.report import TestReport

ENTRY = re.compile(r'^"(?:[ !#-\[\]-~]|\\x[0-9a-f]{2})+"$')


class Targets(unittest.TestCase):
    def test_every_target_has_seeds_and_a_dictionary(self):
        sources = sorted((TOP / "src").rglob("*_fuzz.cc"))
        self.assertGreater(len(sources), 10)
        for source in sources:
            self.assertTrue(fuzz.dictionary_of(source.stem), f"{source.stem} has no dictionary")
            seeds = fuzz.seeds_of(source.stem)
            self.assertTrue(seeds and any(seeds[0].iterdir()), f"{source.stem} has no seed")

    def test_seeds_and_dictionaries_belong_to_a_target(self):
        targets = {each.stem for each in (TOP / "src").rglob("*_fuzz.cc")}
        for each in fuzz.SEEDS.iterdir():
            if each.name != "README.md":
                self.assertIn(each.stem, targets)

    def test_dictionaries_are_as_libfuzzer_reads_them(self):
        for path in fuzz.SEEDS.glob("*.dict"):
            for line in path.read_text().splitlines():
                if not line.startswith("#"):
                    self.assertRegex(line, ENTRY, path.name)


class Running(unittest.TestCase):
    def run_targets(self, scripts, seconds=1):
        """Shell scripts in the place of targets; returns the report, the exit code, the output."""
        with tempfile.TemporaryDirectory() as top:
            targets = []
            for name, script in scripts.items():
                path = Path(top) / name
                path.write_text(f"#!/bin/sh\n{script}\n")
                path.chmod(0o755)
                targets.append(path)
            report, out = TestReport(), io.StringIO()
            with mock.patch.object(fuzz, "LOGS", Path(top) / "logs"), \
                    mock.patch.object(fuzz, "TOP", Path(top)), contextlib.redirect_stdout(out):
                fuzz.run_targets(report, targets, seconds)
                code = report.finish(ci=False)
            return report, code, out.getvalue()

    def test_inputs_are_counted(self):
        script = "echo 'stat::number_of_executed_units: 1200'"
        report, code, out = self.run_targets({"a_fuzz": script, "b_fuzz": script})
        self.assertEqual((report.passed, code), (2, 0))
        self.assertIn("2,400 inputs of 2 targets", out)
        self.assertEqual(out.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_crash_fails_and_names_its_input(self):
        script = "echo 'Test unit written to /logs/crash-1'; exit 77"
        report, code, out = self.run_targets({"a_fuzz": script})
        self.assertEqual((len(report.failures), code), (1, 1))
        self.assertIn("a_fuzz /logs/crash-1", out)

    def test_no_target_at_all_fails(self):
        report, code, _ = self.run_targets({})
        self.assertEqual((len(report.failures), code), (1, 1))


class Options(unittest.TestCase):
    def test_an_hour_is_divided(self):
        self.assertEqual(fuzz.parse([]), fuzz.FuzzOptions(3600, ()))
        self.assertEqual(fuzz.parse(["x_fuzz", "--seconds", "60"]),
                         fuzz.FuzzOptions(60, ("x_fuzz",)))
        self.assertEqual(fuzz.seconds_for_each(3600, 17, cores=2), 400)
        self.assertEqual(fuzz.seconds_for_each(60, 1, cores=2), 60)
        self.assertEqual(fuzz.seconds_for_each(3, 17, cores=2), 1)

    def test_an_unknown_target_is_an_error(self):
        with self.assertRaises(ToolError):
            fuzz.find_targets(["no_such_fuzz"])


if __name__ == "__main__":
    unittest.main()
