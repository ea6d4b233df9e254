# SPDX-License-Identifier: Apache-2.0
"""Every type and reason of a condition, and every reason of an event, is in troubleshooting.md.

The constants in namespaces condition_type, reason, reasons and event_reason of src/controllers are
the one list; the page of each language has each of them in code: `NoRoom`. To add a reason, add its
constant and a row in both languages.
"""
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

PAGES = ("docs/en/troubleshooting.md", "docs/zh_CN/troubleshooting.md")
# Of which reasons are composed: Create + Warmup + Job + Successfully.
PARTS_OF_REASONS = {"Do", "ErrorDo", "Job", "Successfully"}

_NAMESPACE = re.compile(r"^namespace (?:condition_type|reasons?|event_reason) \{(.*?)^\}",
                        re.M | re.S)
_CONSTANT = re.compile(r'\bconstexpr const char\* k\w+ = "(\w+)";')
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


def problems(top: str | Path) -> Iterator[str]:
    top = Path(top)
    headers = [each for each in source_tree.list_files(top)
               if each.is_relative_to("src/controllers") and each.suffix == ".h"]
    pages = {page: (top / page).read_text() for page in PAGES}
    found = False
    for header in headers:
        reasons = reasons_of((top / header).read_text())
        found = found or bool(reasons)
        for page, text in pages.items():
            for each in missing(text, reasons):
                yield f"{page}: has no row for `{each}` of {header}"
    if not found:
        yield "src/controllers: no header declares a reason; what does check_reasons look for?"


def main() -> int:
    return source_tree.report("check_reasons", list(problems(TOP)))
