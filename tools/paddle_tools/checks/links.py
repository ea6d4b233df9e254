# SPDX-License-Identifier: Apache-2.0
"""What documents point to is there: links and their anchors, and paths of this repository in code.

A path in code (`src/api`, or a word of a command such as `kubectl apply -f deploy/v1/crd.yaml`) counts
when its first part is a folder at the top; in `...` also when it is one of src/ or beside the document.
It may leave off an ending (`docs/design/0009`, `test/support/s3_gateway`) and have a `*`.
"""
import fnmatch
import os
import re
from pathlib import Path

from paddle_tools.checks import source_tree as tree

LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(r"\.?[A-Za-z0-9_][\w.*-]*(?:/[\w.*-]+)+/?")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
MADE = ("build/",)                  # is not there before somebody makes it
RATIOS = "bench"                    # of whose documents one subject over another is no path


class Places:
    """Every file and folder of the tree."""

    def __init__(self, files):
        self.files = [str(each) for each in files]
        self.all = set(self.files)
        for each in files:
            self.all.update(str(parent) for parent in each.parents)
        self._beginnings = {re.split(r"[.-]", os.path.basename(each))[0] for each in self.files}

    def has(self, path):
        path = os.path.normpath(path)
        if path in self.all:
            return True
        if "*" in path:
            return any(fnmatch.fnmatchcase(each, path) for each in self.all)
        # Without its ending; the look at all files is for those that may have one.
        return re.split(r"[.-]", os.path.basename(path))[0] in self._beginnings and any(
            each.startswith((path + ".", path + "-")) for each in self.files)


def lines_of(text):
    """(number, line, whether it is a block of code)."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        yield number, line, fenced or line.startswith("    ")


def anchors_of(text):
    """Those that a browser of the repository gives to headings."""
    found, seen = set(), {}
    for _, line, code in lines_of(text):
        if code or not (heading := re.match(r"#{1,6}\s+(.*)", line)):
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen[slug] = seen.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def broken_link(target, document, texts, places):
    """A sentence, or nothing."""
    path, _, anchor = target.partition("#")
    if ELSEWHERE.match(target):
        return None
    where = os.path.normpath(os.path.join(document.parent, path)) if path else str(document)
    if where not in places.all:
        return f"the link to '{target}' leads nowhere; there is no {where}"
    if anchor and where in texts and anchor not in anchors_of(texts[where]):
        return f"the link to '{target}' has no place to go: {where} has no such heading"
    return None


def is_missing(word, document, places, near):
    """`near`: a folder of src/ or beside the document may come first as well."""
    first = word.split("/")[0]
    if not PATH.fullmatch(word) or word.startswith(MADE):
        return False
    near = near and document.parts[0] != RATIOS
    bases = [""] + (["src", str(document.parent)] if near else [])
    bases = [base for base in bases if os.path.normpath(os.path.join(base, first)) in places.all]
    return bool(bases) and not any(places.has(os.path.join(base, word)) for base in bases)


def problems(top):
    files = tree.files(top)
    places = Places(files)
    texts = {str(each): (Path(top) / each).read_text() for each in files if each.suffix == ".md"}
    for name, text in texts.items():
        document = Path(name)
        for number, line, code in lines_of(text):
            for target in () if code else LINK.findall(line):
                if said := broken_link(target, document, texts, places):
                    yield f"{name}:{number}: {said}"
            for span in [line] if code else SPAN.findall(line):
                for word in re.split(r"[\s=,;()\"']+", span):
                    word = re.sub(r"^-[fk]/?", "", word).rstrip(".:")
                    if is_missing(word, document, places, near=not code):
                        yield f"{name}:{number}: it names '{word}', which is not in this repository"


def main():
    return tree.finish("check_links", list(problems(tree.root())))
