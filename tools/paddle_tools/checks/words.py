# SPDX-License-Identifier: Apache-2.0
"""No unfinished work, no package registry's address, no path of one machine in the tree."""
import re
from pathlib import Path

from paddle_tools.checks import source_tree as tree

FORBIDDEN = {
    "unfinished work": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
    "a test switched off": re.compile(r"\bDISABLED_\w"),
    "a package registry's address": re.compile(
        r"\b(?:proxy\.golang\.org|sum\.golang\.org|goproxy\.\w+|pypi\.org|files\.pythonhosted\.org"
        r"|deb\.debian\.org|[\w.-]*\.pkg\.dev|artifactory\b)"),
    "a path of one machine": re.compile(r"(?<![\w.$}~-])/(?:work|root)/\w|/tmp/build-"),
}
# They speak of the words themselves.
EXEMPT = {"tools/paddle_tools/checks/words.py", "tools/tests/checks_test.py"}


def problems(top):
    for path in tree.files(top):
        if str(path) in EXEMPT:
            continue
        try:
            lines = (Path(top) / path).read_text().splitlines()
        except UnicodeDecodeError:
            continue  # not text
        for number, line in enumerate(lines, 1):
            for what, pattern in FORBIDDEN.items():
                if found := pattern.search(line):
                    yield f"{path}:{number}: {what}: '{found.group(0)}'"


def main():
    return tree.finish("check_words", list(problems(tree.root())))
