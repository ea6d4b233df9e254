# SPDX-License-Identifier: Apache-2.0
"""Tests of the runner's soak mode."""
import unittest

from paddle_tools.runner import soak

OUTPUT = """[ RUN      ] PaddleJobWalks.EndLikeANewJobWithTheLastSpec
walks PaddleJob: 12 walks, seeds 7 to 18, 360 edits, 1 that ended for good, 0 failed
walks PaddleJob: fields never edited: none
"""


class SoakTest(unittest.TestCase):
    def test_reads_seeds_and_counts_of_a_case(self) -> None:
        counts, seeds = soak.read_counts("walks", "PaddleJob", OUTPUT)
        self.assertEqual(counts, {"walks": 12, "edits": 360})
        self.assertEqual(seeds, "7 to 18")

    def test_a_case_without_its_last_line_has_no_counts(self) -> None:
        self.assertEqual(soak.read_counts("walks", "PaddleJob", "killed"), ({}, "none"))

    def test_the_last_line_sums_counts_and_names_seeds_and_failures(self) -> None:
        line = soak.summary("walks", [
            soak.Searched("PaddleJob", {"walks": 12, "edits": 360}, "7 to 18", False),
            soak.Searched("SampleSet", {"walks": 1_000, "edits": 30_000}, "7 to 1006", True)])
        self.assertEqual(line, "soak walks: 1,012 walks, 30,360 edits; seeds: PaddleJob 7 to 18, "
                               "SampleSet 7 to 1006; 1 of 2 failed")

    def test_every_kind_searches_cases_that_a_program_has(self) -> None:
        for kind in soak.KINDS.values():
            for case in kind.cases.values():
                suite, name = case.split(".")
                text = "".join(path.read_text() for path in
                               (soak.TOP / "test" / "walks").glob("*_test.cc"))
                self.assertIn(f"TEST({suite}, {name})", text)

    def test_an_hour_and_another_seed_each_time_unless_told_otherwise(self) -> None:
        self.assertEqual(soak.parse(["walks", "--seed", "5"]), ("walks", 3600, 5))
        self.assertGreater(soak.parse(["walks"]).seed, 1_700_000_000)


if __name__ == "__main__":
    unittest.main()
