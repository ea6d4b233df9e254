# SPDX-License-Identifier: Apache-2.0
"""Documents point to what exists: links and their anchors, and paths of this repository in code.

A path in code (`src/api`, or a word of a command such as `kubectl apply -f deploy/v1/crd.yaml`)
is checked when its first part is a folder at the top; in `...` also when it is a folder of src/ or
beside the document. It may lack an ending (`docs/design/0009`, `test/support/s3_gateway`) and have
a `*`. A C++ file may be named by the end of its path (`decide/start.cc`), as in the walks of
ARCHITECTURE.md; `x.cc` is any file.
"""
import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"\.?[A-Za-z0-9_][\w.*-]*(?:/[\w.*-]+)+/?")
SOURCE = re.compile(r"(?<![\w/<*.-])[a-z0-9_/]+\.(?:cc|h)\b")
ANY_FILE = {"x.cc", "x.h", "x_test.cc"}
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
MADE = ("build/",)                  # does not exist before a build
RATIOS = "bench"                    # its documents write ratios as one subject/another


class Places:
    """Every file and folder of the tree."""

    def __init__(self, files: list[Path]) -> None:
        self.files = [str(each) for each in files]
        self.all = set(self.files)
        for each in files:
            self.all.update(str(parent) for parent in each.parents)
        self.folders = {part for each in files for part in each.parts[:-1]}
        self._ends = {"/".join(each.parts[at:]) for each in files if each.suffix in {".cc", ".h"}
                      for at in range(len(each.parts))}
        self._beginnings = {re.split(r"[.-]", os.path.basename(each))[0] for each in self.files}

    def has_no_source(self, name: str) -> bool:
        """Whether no file ends like this. A folder that is not here is of another project."""
        ours = "/" not in name or name.split("/", maxsplit=1)[0] in self.folders
        return ours and name not in self._ends and name not in ANY_FILE

    def has(self, path: str) -> bool:
        path = os.path.normpath(path)
        if path in self.all:
            return True
        if "*" in path:
            return any(fnmatch.fnmatchcase(each, path) for each in self.all)
        # Without its ending. The first condition is quick and excludes most paths.
        return re.split(r"[.-]", os.path.basename(path))[0] in self._beginnings and any(
            each.startswith((path + ".", path + "-")) for each in self.files)


def lines_of(text: str) -> Iterator[tuple[int, str, bool]]:
    """(number, line, whether it is a block of code)."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        yield number, line, fenced or line.startswith("    ")


def anchors_of(text: str) -> set[str]:
    """The anchors that GitHub gives to headings."""
    found: set[str] = set()
    seen: dict[str, int] = {}
    for _, line, code in lines_of(text):
        if code or not (heading := re.match(r"#{1,6}\s+(.*)", line)):
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def broken_link(target: str, document: Path, texts: dict[str, str], places: Places) -> str | None:
    """What is wrong with a link; None when it is good."""
    path, _, anchor = target.partition("#")
    if ELSEWHERE.match(target):
        return None
    where = os.path.normpath(os.path.join(document.parent, path)) if path else str(document)
    if where not in places.all:
        return f"the link to '{target}' is broken: there is no {where}"
    if anchor and where in texts and anchor not in anchors_of(texts[where]):
        return f"the link to '{target}' is broken: {where} has no such heading"
    return None


def is_missing(word: str, document: Path, places: Places, near: bool) -> bool:
    """Whether a word names a file that does not exist. With `near` a path may also begin in src/ or
    beside the document."""
    first = word.split("/", maxsplit=1)[0]
    if not PATH.fullmatch(word) or word.startswith(MADE):
        return False
    near = near and document.parts[0] != RATIOS
    bases = [""] + (["src", str(document.parent)] if near else [])
    bases = [base for base in bases if os.path.normpath(os.path.join(base, first)) in places.all]
    return bool(bases) and not any(places.has(os.path.join(base, word)) for base in bases)


def problems(top: str | Path) -> Iterator[str]:
    files = source_tree.list_files(top)
    places = Places(files)
    texts = {str(each): (Path(top) / each).read_text() for each in files if each.suffix == ".md"}
    for name, text in texts.items():
        document = Path(name)
        for number, line, code in lines_of(text):
            for target in () if code else LINK.findall(line):
                if problem := broken_link(target, document, texts, places):
                    yield f"{name}:{number}: {problem}"
            for span in [line] if code else SPAN.findall(line):
                words = [re.sub(r"^-[fk]/?", "", part).rstrip(".:")
                         for part in re.split(r"[\s=,;()\"']+", span)]
                missing = [word for word in words
                           if is_missing(word, document, places, near=not code)]
                if document.parts[0] != RATIOS:
                    missing += [word for word in SOURCE.findall(span)
                                if word not in missing and places.has_no_source(word)]
                for word in missing:
                    yield f"{name}:{number}: '{word}' is not in this repository"


def main() -> int:
    return source_tree.report("check_links", list(problems(TOP)))
