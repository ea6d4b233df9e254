# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the repository's files, C++ without or only with its comments and
literals, and how a check reports what it found."""
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


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'                      # comments
    r'|R"([^()\\\s]{0,16})\(.*?\)\1"'          # raw strings
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def _is_digit_separator(match: re.Match[str]) -> bool:
    """In 1'000'000 the quotes delimit no literal."""
    return (match.group(0).startswith("'") and match.start() > 0
            and match.string[match.start() - 1].isalnum())


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def code_only(text: str) -> str:
    """C++ with comments and literals blanked; line numbers stay."""
    return _TOKEN.sub(lambda match: match.group(0) if _is_digit_separator(match)
                      else _blank(match.group(0)), text)


def comments_and_literals(text: str) -> str:
    """C++ with everything else blanked; line numbers stay."""
    kept, end = [], 0
    for match in _TOKEN.finditer(text):
        if not _is_digit_separator(match):
            kept += [_blank(text[end:match.start()]), match.group(0)]
            end = match.end()
    return "".join([*kept, _blank(text[end:])])


def report(name: str, problems: Sequence[str]) -> int:
    """Prints the problems that the check `name` found; returns its exit code."""
    for each in problems:
        print(each)
    if problems:
        print(f"{name}: {len(problems)} problem(s)")
    return 1 if problems else 0
