# SPDX-License-Identifier: Apache-2.0
"""No source file reaches 800 lines, and no C++ comment is wider than 100 columns.

clang-format limits the width of code, but leaves comments as they are (ReflowComments: false).
"""
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

LINES = 800
COLUMNS = 100
HAND_WRITTEN = ("src/", "test/", "tools/", "cmake/", "bench/")
# Data: corpora and checksums are as long as they are.
DATA = (".json", ".yaml", ".sum", ".mod")


def problems(top: str | Path) -> Iterator[str]:
    for path in source_tree.list_files(top):
        if not str(path).startswith(HAND_WRITTEN) or path.suffix in DATA:
            continue
        lines = (Path(top) / path).read_bytes().count(b"\n")
        if lines >= LINES:
            yield f"{path}: {lines} lines; split it before it reaches {LINES}"
        if source_tree.is_cxx(path):
            yield from wide_comments(path, (Path(top) / path).read_text())


def wide_comments(path: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("//") and len(line) > COLUMNS:
            yield f"{path}:{number}: a comment of {len(line)} columns; break it at {COLUMNS}"


def main() -> int:
    return source_tree.report("check_sizes", list(problems(TOP)))
