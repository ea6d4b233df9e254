# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the project's files, calls in CMake files, C++ without its comments, the
literals of C++, and how to complain."""
import re
import subprocess
import sys
from pathlib import Path


def root():
    return Path(__file__).resolve().parents[2]


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


KEYWORDS = {"DEPS", "SOURCES", "TESTS", "FUZZERS", "LIBS", "LABELS", "ALONE", "PURE",
            "HEADERS_ONLY"}


def read_call(text):
    """Words of a CMake call as {keyword: [words]}; the first words are under ''."""
    parts, key = {"": []}, ""
    for word in re.sub(r"#[^\n]*", "", text).split():
        if word in KEYWORDS:
            key = word
            parts.setdefault(key, [])
        else:
            parts[key].append(word.strip('"'))
    return parts


_TOKEN = re.compile(
    r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])"        # between digits: 1'000
    r'|//[^\n]*|/\*.*?\*/'                     # comments
    r'|R"([^()\\\s]{0,16})\(.*?\)\1"'          # raw strings
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def code_only(text, keep=r"(?!)"):
    """The text with comments and literals blanked, but for strings that match `keep` as a whole;
    line numbers stay."""
    def blank(match):
        if match.group(0).startswith('"') and re.fullmatch(keep, match.group(0)[1:-1]):
            return match.group(0)
        if match.group(0) == "'":
            return "'"
        return re.sub(r"[^\n]", " ", match.group(0))
    return _TOKEN.sub(blank, text)


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:include|pragma|error)[^\n]*", re.M)


def literals(text):
    """The string literals of C++ without their quotes, escapes as written; adjacent ones are one."""
    text = _DIRECTIVE.sub("", text)
    found, end = [], -1  # `end`: of the last literal or of a comment right behind it
    for match in _TOKEN.finditer(text):
        token = match.group(0)
        adjacent = end >= 0 and not text[end:match.start()].strip()
        if token.startswith(("//", "/*")):
            end = match.end() if adjacent else -1
            continue
        if token.startswith("'"):
            end = -1
            continue
        if token.startswith("R"):
            skip = len(match.group(1)) + 1  # the delimiter and its parenthesis
            value = token[2 + skip:-1 - skip]
        else:
            value = token[1:-1]
        if adjacent:
            found[-1] += value
        else:
            found.append(value)
        end = match.end()
    return found


def finish(name, problems):
    for each in problems:
        print(each)
    if problems:
        print(f"{name}: {len(problems)} problem(s)")
    sys.exit(1 if problems else 0)
