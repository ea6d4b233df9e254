# SPDX-License-Identifier: Apache-2.0
"""Which files of the repository are in the site of a language, where, and how their links read.

A document keeps its links as they are for readers of the repository. In the site a link to a page
of the same language becomes a link of MkDocs, which checks it and its heading; a link to the other
language leads to that site; a link to a folder leads to its README, or is plain text when it has
none; any other file is copied.
"""
import os
import re
from collections.abc import Iterable
from pathlib import Path

from paddle_tools.checks.links import ELSEWHERE, lines_of
from paddle_tools.errors import ToolError

LANGUAGES = {"en": "README.md", "zh_CN": "README-zh_CN.md"}  # with the first page of each
LINK = re.compile(r"\[([^\]\[]*)\]\(([^)\s]+)\)")
# Of a link whose text has `code` in it or is broken over two lines; site: marks what is done.
END_OF_LINK = re.compile(r"\]\((?!site:)([^)\s]+)\)")
SPAN = re.compile(r"(`[^`]*`)")


def language_of(path: str) -> str | None:
    """The language that a page of users is written in; None when the languages share the page."""
    for language, front in LANGUAGES.items():
        if path == front or path.startswith(f"docs/{language}/"):
            return language
    return None


def place(path: str) -> str:
    """Where a file of the repository is in the site of its language."""
    if path in LANGUAGES.values():
        return "index.md"
    for folder in [f"docs/{each}/" for each in LANGUAGES] + ["docs/"]:
        if path.startswith(folder) and path != "docs/README.md":
            return path.removeprefix(folder)
    return path


def address(path: str) -> str:
    """Where the site shows it."""
    where = place(path)
    if not where.endswith(".md"):
        return where
    folder, name = os.path.split(where)
    return os.path.join(folder, "index.html" if name == "README.md" else name[:-2] + "html")


class Pages:
    """The pages of one language. `files` are all files of the repository, relative to `top`."""

    def __init__(self, top: Path, files: Iterable[Path], language: str) -> None:
        self._top = top
        self._files = {str(each) for each in files}
        self._folders = {str(parent) for each in files for parent in each.parents}
        self._language = language
        self.staged: dict[str, str | None] = {}  # text of a page; None: the file is copied

    def collect(self) -> None:
        """Finds everything: the pages of the language, and what they link to."""
        start = [each for each in self._files if each.endswith(".md") and
                 language_of(each) in (self._language, None) and
                 (os.path.dirname(each) in ("", "docs/design") or each.startswith("docs/"))]
        waiting = sorted(start)
        while waiting:
            path = waiting.pop()
            if path in self.staged:
                continue
            if not path.endswith(".md"):
                self.staged[path] = None
                continue
            found: list[str] = []
            self.staged[path] = self._rewrite(path, (self._top / path).read_text(), found)
            waiting += found

    def _rewrite(self, path: str, text: str, found: list[str]) -> str:
        lines = []
        for _, line, code in lines_of(text):
            parts = [line] if code else SPAN.split(line)  # every second one is `code`
            for index, part in enumerate(parts):
                if not code and index % 2 == 0:
                    whole = LINK.sub(lambda link: self._link(path, link, found), part)
                    parts[index] = END_OF_LINK.sub(
                        lambda link: self._target(path, link, found), whole)
                elif not code and line.startswith("|"):
                    parts[index] = part.replace("\\|", "|")  # needs no escape in a table here
            lines.append("".join(parts))
        return "\n".join(lines).replace("](site:", "](") + "\n"

    def _resolve(self, path: str, target: str) -> tuple[str, str] | None:
        """The file that a link names, and its anchor; None: a folder without a README."""
        name, _, anchor = target.partition("#")
        where = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if where in self._folders:
            where = os.path.join(where, "README.md")
            if where not in self._files:
                return None
        if where not in self._files:
            raise ToolError(f"{path}: the link to '{target}' leads nowhere")
        return where, f"#{anchor}" if anchor else ""

    def _link(self, path: str, link: re.Match[str], found: list[str]) -> str:
        text, target = link.group(1), link.group(2)
        if ELSEWHERE.match(target):
            return f"[{text}](site:{target})"
        resolved = self._resolve(path, target)
        if resolved is None:
            return text
        where, anchor = resolved
        if language_of(where) not in (None, self._language):
            up = os.path.relpath(f"{language_of(where)}/{address(where)}",
                                 os.path.dirname(f"{self._language}/{address(path)}"))
            return f'<a href="{up}{anchor}">{text}</a>'
        found.append(where)
        relative = os.path.relpath(place(where), os.path.dirname(place(path)))
        return f"[{text}](site:{relative}{anchor})"

    def _target(self, path: str, link: re.Match[str], found: list[str]) -> str:
        target = link.group(1)
        if ELSEWHERE.match(target):
            return f"](site:{target})"
        resolved = self._resolve(path, target)
        if resolved is None or language_of(resolved[0]) not in (None, self._language):
            raise ToolError(f"{path}: write the link to '{target}' on one line and without `code`: "
                            "it leaves the site of this language")
        found.append(resolved[0])
        relative = os.path.relpath(place(resolved[0]), os.path.dirname(place(path)))
        return f"](site:{relative}{resolved[1]})"
