# SPDX-License-Identifier: Apache-2.0
"""The test of src/a/x.cc is src/a/x_test.cc, or a README says where it is.

The README is that of the folder or of a folder above it in src. It names a file without its ending
(`crash_test`, `container_*`), in a paragraph that is about tests; it also names each test that has
no file beside it. Code that only tests and benchmarks use, and programs, need no test of their own.
"""
import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

TEST = "_test"
OF_TESTS = ("_test", "_bench", "_fuzz", "_fixture", "_suite", "_main")
FOLDERS_OF_TESTS = {"testing", "fake", "test_server"}
PROGRAMS = "programs"

_ABOUT_TESTS = re.compile(r"\btest(s|ed)?\b|_test\b", re.I)
_NAME = re.compile(r"[A-Za-z0-9_*]+")


def names_about_tests(readme: str) -> set[str]:
    """The words of the paragraphs that are about tests."""
    found: set[str] = set()
    paragraphs = re.split(r"\n\s*\n", readme)
    for before, each in zip(["", *paragraphs], paragraphs, strict=False):
        if _ABOUT_TESTS.search(each) or (each.startswith("|") and _ABOUT_TESTS.search(before)):
            found.update(_NAME.findall(each))
    return found


def is_named(name: str, words: set[str]) -> bool:
    return name in words or any("*" in each and len(each) > 3 and fnmatch.fnmatchcase(name, each)
                                for each in words)


def needs_a_test(path: Path) -> bool:
    inside = path.parts[1:-1]
    return (not path.stem.endswith(OF_TESTS) and not path.stem.startswith(("fake_", "test_"))
            and not FOLDERS_OF_TESTS & set(inside) and inside[:1] != (PROGRAMS,))


def problems(top: str | Path) -> Iterator[str]:
    top = Path(top)
    files = [each for each in source_tree.list_files(top) if each.is_relative_to("src")]
    everything = set(files)
    words = {each.parent: names_about_tests((top / each).read_text())
             for each in files if each.name == "README.md"}

    def named(path: Path) -> bool:
        return any(is_named(path.stem, words.get(folder, set())) for folder in path.parents)

    for each in sorted(files):
        if each.suffix != ".cc" or named(each):
            continue
        if each.stem.endswith(TEST):
            tested = each.with_name(each.stem.removesuffix(TEST))
            if not {tested.with_suffix(".cc"), tested.with_suffix(".h")} & everything:
                yield f"{each}: tests no {tested.name}.cc, and no README here or above has its name"
        elif needs_a_test(each) and each.with_name(f"{each.stem}{TEST}.cc") not in everything:
            yield f"{each}: has no {each.stem}{TEST}.cc, and no README says in which test it is"


def main() -> int:
    return source_tree.report("check_tests", list(problems(TOP)))
