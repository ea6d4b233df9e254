# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the project's files, C++ without its comments, and how to complain."""
import re
import subprocess
from pathlib import Path

from paddle_tools.paths import TOP


def root():
    return TOP


def files(top):
    """Paths relative to `top` that are in git or could be added to it."""
    listed = subprocess.run(
        ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return sorted(Path(each) for each in set(listed.split("\0"))
                  if each and (Path(top) / each).is_file())


def cxx(paths, under=""):
    return [each for each in paths
            if each.suffix in (".h", ".cc") and str(each).startswith(under)]


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'                      # comments
    r'|R"([^()\\\s]{0,16})\(.*?\)\1"'          # raw strings
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def code_only(text):
    """The text with comments and literals blanked; line numbers stay."""
    def blank(match):
        if match.group(0).startswith("'") and match.start() and text[match.start() - 1].isalnum():
            return match.group(0)  # a digit separator: 1'000
        return re.sub(r"[^\n]", " ", match.group(0))
    return _TOKEN.sub(blank, text)


def finish(name, problems):
    """Prints what was found; the exit code."""
    for each in problems:
        print(each)
    if problems:
        print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0
