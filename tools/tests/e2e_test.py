# SPDX-License-Identifier: Apache-2.0
"""Tests of which scenarios tools/e2e runs, and on which cluster."""
import unittest

from paddle_tools.e2e import main


def names(argv: list[str]) -> list[list[str]]:
    return [[each.name for each in group] for group in main.plan(argv)]


class PlanTest(unittest.TestCase):
    def test_named_scenarios_share_a_cluster_in_their_order(self) -> None:
        self.assertEqual(names(["install", "tasks", "elastic"]), [["install", "tasks", "elastic"]])

    def test_a_scenario_that_makes_its_clusters_leaves_none_of_the_others_out(self) -> None:
        self.assertEqual(names(["network_policy", "install", "tasks"]),
                         [["install", "tasks"], ["network_policy"]])
        self.assertEqual(names(["network_policy", "ipv6"]), [["network_policy"], ["ipv6"]])

    def test_all_is_every_file_once_and_the_core_is_in_its_order(self) -> None:
        every = [name for group in names(["all"]) for name in group]
        self.assertEqual(sorted(every), main.all_names())
        self.assertEqual([each for each in every if each in main.CORE], list(main.CORE))


if __name__ == "__main__":
    unittest.main()
