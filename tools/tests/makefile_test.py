# SPDX-License-Identifier: Apache-2.0
"""The Makefile: every target that a document names exists, and what a recipe runs is there."""
import os
import re
import subprocess
import unittest
from collections.abc import Iterator

from paddle_tools.checks import links, source_tree
from paddle_tools.paths import TOP

# `make` with the targets and variables behind it, in code.
CALL = re.compile(r"(?:^|[\s(;&])make((?: +[A-Za-z][\w-]*(?:=\S*)?)+)")
FOLDERS = ("bench/", "charts/", "cmake/", "config/", "deploy/", "docs/", "src/", "test/", "tools/")


def targets() -> dict[str, str]:
    """{target: its help}"""
    return dict(re.findall(r"^([a-z][a-z0-9-]*):[^=\n]*## (.+)$",
                           (TOP / "Makefile").read_text(), re.M))


def called(text: str) -> Iterator[str]:
    """The targets that the code of a document makes."""
    for _, line, code in links.lines_of(text):
        for span in [line.split("#")[0]] if code else links.SPAN.findall(line):
            for found in CALL.findall(f" {span}"):
                yield from (word for word in found.split() if "=" not in word)


def make(*words: str) -> str:
    """What make prints, without what a make that runs this test passes on."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(["make", "--no-print-directory", *words], cwd=TOP, env=environment,
                          check=True, capture_output=True, text=True).stdout


def recipe(target: str) -> str:
    """What make would run, the steps of what it depends on included."""
    return make("-n", target)


def missing(commands: str) -> list[str]:
    words = re.split(r"[\s'\"|<>;&()]+", commands)
    return sorted({word for word in words
                   if word.startswith(FOLDERS) and not (TOP / word).exists()})


class Targets(unittest.TestCase):
    def test_what_documents_make_exists(self) -> None:
        known, wrong, seen = targets(), [], 0
        for path in source_tree.list_files(TOP):
            if path.suffix == ".md":
                for target in called((TOP / path).read_text()):
                    seen += 1
                    wrong += [f"{path}: make {target}"] if target not in known else []
        self.assertEqual(wrong, [])
        self.assertGreater(seen, 50, "the documents are not read any more")

    def test_every_target_is_phony_and_has_a_help(self) -> None:
        text = (TOP / "Makefile").read_text()
        (phony,) = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", text, re.M)
        rules = re.findall(r"^([a-z][a-z0-9-]*):(?!=)", text, re.M)
        self.assertEqual(sorted(phony.replace("\\", " ").split()), sorted(rules))
        self.assertEqual(sorted(targets()), sorted(rules))
        listed = make("help")
        for name in rules:
            self.assertIn(f"  make {name} ", listed)

    def test_what_recipes_run_is_there(self) -> None:
        for target in targets():
            commands = recipe(target)
            self.assertTrue(commands.strip(), target)
            self.assertEqual(missing(commands), [], target)

    def test_a_target_or_a_file_that_is_not_there_is_found(self) -> None:
        text = "`make tset` and make sure\n```shell\nmake e2e IMG=a docs  # make coffee\n```\n"
        self.assertEqual(list(called(text)), ["tset", "e2e", "docs"])
        self.assertEqual(missing("tools/bootstrap && tools/gone 'deploy/v1/crd.yaml'"),
                         ["tools/gone"])


if __name__ == "__main__":
    unittest.main()
