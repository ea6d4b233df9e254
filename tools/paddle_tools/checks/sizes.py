# SPDX-License-Identifier: Apache-2.0
"""One file, one thing: no source file reaches 800 lines."""
from pathlib import Path

from paddle_tools.checks import source_tree as tree

LIMIT = 800
HAND_WRITTEN = ("src/", "test/", "tools/", "cmake/", "bench/")
# Data: corpora and checksums are as long as they are.
DATA = (".json", ".yaml", ".sum", ".mod")


def problems(top):
    for path in tree.files(top):
        if not str(path).startswith(HAND_WRITTEN) or path.suffix in DATA:
            continue
        lines = (Path(top) / path).read_bytes().count(b"\n")
        if lines >= LIMIT:
            yield f"{path}: {lines} lines; split it before it reaches {LIMIT}"


def main():
    return tree.finish("check_sizes", list(problems(tree.root())))
