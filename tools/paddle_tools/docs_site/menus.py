# SPDX-License-Identifier: Apache-2.0
"""The menus of the documentation site name every page of their language once, and nothing else.

MkDocs refuses a page that is in no menu too, but only `make docs` runs it. Of its settings `nav`,
with one entry per line, and `not_in_nav` are read.
"""
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.docs_site.pages import LANGUAGES, Pages, place
from paddle_tools.errors import ToolError

SETTINGS = Path("docs/site")
_ENTRY = re.compile(r"^ +- (?:[^:]*: )?(\S+\.md)$")


def entries(settings: str) -> list[str]:
    """The pages that `nav` names."""
    _, _, menu = f"\n{settings}".partition("\nnav:\n")
    return [found[1] for line in menu.splitlines() if (found := _ENTRY.match(line))]


def left_out(settings: str) -> list[str]:
    """The files and folders of `not_in_nav`, without their first slash."""
    found = re.search(r"^not_in_nav: \|\n((?:  .*\n)+)", settings, re.M)
    return [line.strip().removeprefix("/") for line in found[1].splitlines()] if found else []


def differences(pages: list[str], menu: list[str], omitted: list[str]) -> Iterator[str]:
    """What is wrong with a menu for these pages."""
    for name, count in sorted(Counter(menu).items()):
        if name not in pages:
            yield f"{name} is no page"
        elif count > 1:
            yield f"{name} is named {count} times"
    for page in sorted(set(pages) - set(menu)):
        if not page.startswith(tuple(omitted)):
            yield f"{page} is in no menu"


def problems(top: Path) -> Iterator[str]:
    files = source_tree.list_files(top)
    omitted = left_out((top / SETTINGS / "base.yml").read_text())
    for language in LANGUAGES:
        staged = Pages(top, files, language)
        try:
            staged.collect()
        except ToolError as error:  # a broken link: the other language may have the same
            yield str(error)
            continue
        name = SETTINGS / f"{language}.yml"
        pages = [place(path) for path, text in staged.staged.items() if text is not None]
        for each in differences(pages, entries((top / name).read_text()), omitted):
            yield f"{name}: {each}"
