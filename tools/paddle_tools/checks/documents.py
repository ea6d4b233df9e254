# SPDX-License-Identifier: Apache-2.0
"""Pages whose commands tests run can be run, and are the same in both languages.

Every output stands after its commands, files that a page shows are those of the repository, blocks
of the Chinese page equal those of the English one but for comments, and few commands are not run.
The page about monitoring names only metrics that exist.
`tools/check_documents --list` names those, and the outputs that are not compared.
"""
import sys

from paddle_tools.checks import source_tree
from paddle_tools.doc_run import pages
from paddle_tools.paths import TOP


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
    return source_tree.report("check_documents", list(pages.problems(TOP)))
