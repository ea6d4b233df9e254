# SPDX-License-Identifier: Apache-2.0
"""Every type and reason of a condition, and every reason of an event, is in troubleshooting.md.

The constants in namespaces condition_type, reason, reasons and event_reason of src/controllers are
the one list; the page of each language has each of them in code: `NoRoom`. To add a reason, add its
constant and a row in both languages.

Phases are constants, too: those of namespaces *_phase and *_state in src/api/phases.h. A literal
with such a value is found in all of src but tests and src/base, which knows no Kubernetes. The same
words are types of conditions, names of columns and keys of others; lines with those are left alone.
"""
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

PAGES = ("docs/en/troubleshooting.md", "docs/zh_CN/troubleshooting.md")
# Of which reasons are composed: Create + Warmup + Job + Successfully.
PARTS_OF_REASONS = {"Do", "ErrorDo", "Job", "Successfully"}

PHASES = "src/api/phases.h"

_NAMESPACE = re.compile(r"^namespace (?:condition_type|reasons?|event_reason) \{(.*?)^\}",
                        re.M | re.S)
_CONSTANT = re.compile(r'\bconstexpr const char\* k\w+ = "(\w+)";')
_PHASE_NAMESPACE = re.compile(r"^namespace \w+_(?:phase|state) \{(.*?)^\}", re.M | re.S)
_LITERAL = re.compile(r'"(\w+)"')
_OTHER_WORDS = re.compile(
    r'constexpr const char\*'                     # a constant
    r'|condition\w*\([^"]*"|"/?type"\}?[),]'      # the type of a condition
    r'|\.name = "|\{"\w+", "(?:string|integer|date)"'  # a column of a table
    r'|\.reason = |contains\("|\["|^\s*//')         # a reason, a key, a comment
_TEST_CODE = re.compile(r"_(?:test|fixture|suite|fuzz|bench)\.|/(?:testing|fake|test_server)/")
_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
_SPAN = re.compile(r"`([^`]+)`")


def reasons_of(text: str) -> set[str]:
    """The values of the constants in a header."""
    return {each for body in _NAMESPACE.findall(text) for each in _CONSTANT.findall(body)}


def missing(page: str, reasons: set[str]) -> list[str]:
    """The reasons that a page does not have in code in its text; blocks do not count."""
    spans = _SPAN.findall(_FENCED.sub("", page))
    words = {word for span in spans for word in re.findall(r"\w+", span)}
    return sorted(reasons - words - PARTS_OF_REASONS)


def phases_of(text: str) -> set[str]:
    """The values of the constants of phases that no other word has: "Unknown" is also a status."""
    return {each for body in _PHASE_NAMESPACE.findall(text)
            for each in _CONSTANT.findall(body)} - {"Unknown"}


def literal_phases(top: Path, files: list[Path]) -> Iterator[str]:
    if Path(PHASES) not in files:
        return
    phases = phases_of((top / PHASES).read_text())
    for each in files:
        if (each.suffix not in {".h", ".cc"} or not each.is_relative_to("src")
                or each.is_relative_to("src/base") or _TEST_CODE.search(f"/{each}")):
            continue
        for number, line in enumerate((top / each).read_text().splitlines(), 1):
            found = [word for word in _LITERAL.findall(line) if word in phases]
            if found and not _OTHER_WORDS.search(line):
                yield f'{each}:{number}: "{found[0]}" is a phase; use its constant of {PHASES}'


def problems(top: str | Path) -> Iterator[str]:
    top = Path(top)
    files = source_tree.list_files(top)
    headers = [each for each in files
               if each.is_relative_to("src/controllers") and each.suffix == ".h"]
    pages = {page: (top / page).read_text() for page in PAGES}
    found = False
    for header in headers:
        reasons = reasons_of((top / header).read_text())
        found = found or bool(reasons)
        for page, text in pages.items():
            for each in missing(text, reasons):
                yield f"{page}: has no row for `{each}` of {header}"
    yield from literal_phases(top, files)
    if not found:
        yield "src/controllers: no header declares a reason; what does check_reasons look for?"


def main() -> int:
    return source_tree.report("check_reasons", list(problems(TOP)))
