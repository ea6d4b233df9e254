# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the repository's files, calls in CMake files, C++ without or only with its
comments and literals, and how a check reports what it found."""
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path


def list_files(top: str | Path) -> list[Path]:
    """Paths relative to `top` of all files that are in git or could be added to it."""
    listed = subprocess.run(
        ["git", "-C", str(top), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return sorted(Path(each) for each in set(listed.split("\0"))
                  if each and (Path(top) / each).is_file())


def is_cxx(path: Path) -> bool:
    return path.suffix in (".h", ".cc")


def cxx_files(paths: Iterable[Path], under: str = "") -> list[Path]:
    """The C++ files among `paths` that begin with `under`."""
    return [each for each in paths if is_cxx(each) and str(each).startswith(under)]


def interpreter(path: Path) -> str:
    """The first line of a script, such as "#!/usr/bin/python3 -BE"; empty for any other file."""
    with open(path, "rb") as file:
        line = file.readline(200)
    return line.decode(errors="replace").strip() if line.startswith(b"#!") else ""


def is_python(top: str | Path, path: Path) -> bool:
    return path.suffix == ".py" or (not path.suffix and "python" in interpreter(Path(top) / path))


def is_shell(top: str | Path, path: Path) -> bool:
    if path.suffix == ".sh":
        return True
    return not path.suffix and bool(re.search(r"\b(?:ba|da)?sh\b", interpreter(Path(top) / path)))


# The keywords of module(), section(), program() and paddle_test().
KEYWORDS = {"DEPS", "SOURCES", "TESTS", "FUZZERS", "LIBS", "LABELS", "ALONE", "PURE",
            "HEADERS_ONLY"}


def read_call(text: str) -> dict[str, list[str]]:
    """The words of a CMake call as {keyword: [words]}; those before a keyword are under ''."""
    parts: dict[str, list[str]] = {"": []}
    key = ""
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


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def code_only(text: str, keep: str = r"(?!)") -> str:
    """C++ with comments and literals blanked, except strings that match `keep` as a whole; line
    numbers stay."""
    def blank(match: re.Match[str]) -> str:
        token = match.group(0)
        kept = token.startswith('"') and re.fullmatch(keep, token[1:-1])
        return token if kept or token == "'" else _blank(token)
    return _TOKEN.sub(blank, text)


def comments_and_literals(text: str) -> str:
    """C++ with everything else blanked; line numbers stay."""
    kept, end = [], 0
    for match in _TOKEN.finditer(text):
        if match.group(0) != "'":
            kept += [_blank(text[end:match.start()]), match.group(0)]
            end = match.end()
    return "".join([*kept, _blank(text[end:])])


_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:include|pragma|error)[^\n]*", re.M)


def literals(text: str) -> list[str]:
    """The string literals of C++ without quotes, escapes as written; adjacent literals are one."""
    text = _DIRECTIVE.sub("", text)
    found: list[str] = []
    end = -1  # of the last literal, or of a comment directly after it
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


def report(name: str, problems: Sequence[str]) -> int:
    """Prints the problems that the check `name` found; returns its exit code."""
    for each in problems:
        print(each)
    if problems:
        print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0
