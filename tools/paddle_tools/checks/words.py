# SPDX-License-Identifier: Apache-2.0
"""Words that do not belong into the tree.

1. Everywhere: unfinished work, tests switched off, package registries' addresses, paths of one
   machine (FORBIDDEN).
2. In CLEAN_FOLDERS: no retired phrase in comments and messages of code (RETIRED_PHRASES), and no
   retired word in the name of a file, folder or type (RETIRED_NAMES).

To retire a word, add it to the list. To hold another folder to the lists, add it to CLEAN_FOLDERS.
"""
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

FORBIDDEN = {
    "unfinished work": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
    "a test switched off": re.compile(r"\bDISABLED_\w"),
    "a package registry's address": re.compile(
        r"\b(?:proxy\.golang\.org|sum\.golang\.org|goproxy\.\w+|pypi\.org|files\.pythonhosted\.org"
        r"|deb\.debian\.org|[\w.-]*\.pkg\.dev|artifactory\b)"),
    "a path of one machine": re.compile(r"(?<![\w.$}~-])/(?:work|root)/\w|/tmp/build-"),
}

# Not in comments and messages of code. Write: cannot, again, previous; name who or what acts.
RETIRED_PHRASES = [
    "can not",
    "anew",
    "of before",
    "whoever",
    "nobody",
    "somebody",
]

# Not in the name of a file, a folder or a type. docs/GLOSSARY.md has the words that replace them.
RETIRED_NAMES = [
    "hand",
    "crew",
    "holds",
    "seats",
    "said",
    "residents",
    "neighbours",
    "soonest",
    "imposter",
    "duties",
    "news",
    "goal",
    "verdict",
    "roster",
    "objections",
]

# Folders that are clean of both, with all that is beneath them, and files.
CLEAN_FOLDERS = [
    ".ci",
    ".github",
    "CMakeLists.txt",
    "Makefile",
    "bench",
    "cmake",
    "config",
    "examples",
    "src",
    "test",
    "tools",
]

# Files that are about the words themselves.
EXEMPT = {"tools/paddle_tools/checks/words.py", "tools/tests/checks_test.py"}

# A phrase may be broken over two lines of a comment, or over two literals.
_GAP = r"(?:\s|//|[#*\"])+"
# "nobody:x:65534" is the user of that name.
_PHRASE = re.compile(r"(?<![\w:])(?:" + "|".join(
    each.replace(" ", _GAP) for each in RETIRED_PHRASES) + r")(?![\w:])", re.I)
_CXX_TYPE = re.compile(
    r"\b(?:class|struct|union|concept|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:\[\[[^\]]*\]\]\s*)?(?:[A-Z_]+\s*\([^)]*\)\s*)?(\w+)|\busing\s+(\w+)\s*=")
_PYTHON_TYPE = re.compile(r"^\s*class\s+(\w+)", re.M)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def is_clean_folder(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in CLEAN_FOLDERS)


def is_text_of_code(top: Path, path: Path) -> bool:
    """A file that is searched whole: Python, shell, CMake, Make, and whatever is in .github."""
    return (source_tree.is_python(top, path) or source_tree.is_shell(top, path)
            or path.suffix == ".cmake" or path.name in ("CMakeLists.txt", "Makefile")
            or path.parts[0] == ".github")


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def retired_phrases(path: Path, text: str) -> Iterator[str]:
    for found in _PHRASE.finditer(text):
        phrase = re.sub(_GAP, " ", found.group(0))
        yield f"{path}:{line_of(text, found.start())}: a retired phrase: '{phrase}'"


def retired_types(path: Path, text: str, declaration: re.Pattern[str]) -> Iterator[str]:
    for found in declaration.finditer(text):
        name = next(filter(None, found.groups()))
        for word in _WORD.findall(name):
            if word.lower() in RETIRED_NAMES:
                yield (f"{path}:{line_of(text, found.start())}: the type '{name}' has a retired "
                       f"word: '{word.lower()}'")


def retired_in_path(path: Path) -> Iterator[str]:
    for word in re.split(r"[^A-Za-z]+", str(path)):
        if word.lower() in RETIRED_NAMES:
            yield f"{path}: its name has a retired word: '{word}'"


def retired(top: Path, path: Path, text: str) -> Iterator[str]:
    """Every use of a retired word in one file of a clean folder."""
    yield from retired_in_path(path)
    if source_tree.is_cxx(path):
        yield from retired_phrases(path, source_tree.comments_and_literals(text))
        yield from retired_types(path, source_tree.code_only(text), _CXX_TYPE)
    elif is_text_of_code(top, path):
        yield from retired_phrases(path, text)
        if source_tree.is_python(top, path):
            yield from retired_types(path, text, _PYTHON_TYPE)


def forbidden(path: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for what, pattern in FORBIDDEN.items():
            if found := pattern.search(line):
                yield f"{path}:{number}: {what}: '{found.group(0)}'"


def problems(top: str | Path) -> Iterator[str]:
    for path in source_tree.list_files(top):
        if str(path) in EXEMPT:
            continue
        try:
            text = (Path(top) / path).read_text()
        except UnicodeDecodeError:
            continue  # not text
        yield from forbidden(path, text)
        if is_clean_folder(path):
            yield from retired(Path(top), path, text)


def main() -> int:
    return source_tree.report("check_words", list(problems(TOP)))
