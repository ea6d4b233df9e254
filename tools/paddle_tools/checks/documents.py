# SPDX-License-Identifier: Apache-2.0
"""Pages whose commands tests run can be run, and are the same in both languages.

Every output stands after its commands, files that a page shows are those of the repository, blocks
of the Chinese page equal those of the English one but for comments, and few commands are not run.
The page about monitoring names only metrics that exist. Every page is in a menu of the site, and
every folder in the README that lists its siblings.
`tools/check_documents --list` names those, and the outputs that are not compared.
"""
import sys
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.doc_run import pages
from paddle_tools.docs_site import menus
from paddle_tools.paths import TOP

# READMEs that list folders: where those are, and how they are named.
LISTS = {"README.md": ("src", "src/{}"), "src/controllers/README.md": ("src/controllers", "{}"),
         "test/README.md": ("test", "{}")}


def unlisted_folders(top: Path) -> Iterator[str]:
    """Folders that no `name` of their README mentions."""
    folders = {parent for each in source_tree.list_files(top) for parent in each.parents}
    for readme, (parent, form) in LISTS.items():
        text = (top / readme).read_text()
        for each in sorted(folders):
            name = f"`{form.format(each.name)}`"
            if str(each.parent) == parent and name not in text:
                yield f"{readme}: does not name {name}"


def show_exceptions() -> None:
    for name in (*pages.CLUSTER, *pages.LOCAL):
        page = pages.load(TOP, name)
        for line, command, reason in page.not_run:
            print(f"{pages.ENGLISH / name}:{line}: not run: {command} ({reason})")
        for line, reason in page.uncompared:
            print(f"{pages.ENGLISH / name}:{line}: not compared: {reason}")


def main() -> int:
    if sys.argv[1:] == ["--list"]:
        show_exceptions()
    return source_tree.report("check_documents", [*pages.problems(TOP), *menus.problems(TOP),
                                                  *unlisted_folders(TOP)])
