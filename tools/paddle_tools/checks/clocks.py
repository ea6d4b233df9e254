# SPDX-License-Identifier: Apache-2.0
"""Time and randomness are arguments: only src/base reads clocks, sleeps or draws random numbers."""
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

FREE = r"(?<![\w.>:])(?:::|std::)?"  # a free function, not a member of a class of ours
FORBIDDEN = [re.compile(each) for each in (
    r"\b(?:system|steady|high_resolution|utc|file)_clock\s*::",
    r"\bchrono\s*::\s*(?:system|steady|high_resolution)_clock\b",
    r"\bsleep_(?:for|until)\b",
    FREE + r"(?:usleep|nanosleep|clock_nanosleep|gettimeofday|clock_gettime|timespec_get)\s*\(",
    FREE + r"sleep\s*\(",
    FREE + r"time\s*\(\s*(?:nullptr|NULL|0|&)",
    r"\brandom_device\b",
    FREE + r"(?:s?rand|drand48|arc4random|getrandom|getentropy)\s*\(",
)]


def problems(top: str | Path) -> Iterator[str]:
    for path in source_tree.cxx_files(source_tree.list_files(top), "src/"):
        if path.parts[:2] == ("src", "base"):
            continue
        code = source_tree.code_only((Path(top) / path).read_text())
        for number, line in enumerate(code.splitlines(), 1):
            found = next(filter(None, (each.search(line) for each in FORBIDDEN)), None)
            if found:
                yield (f"{path}:{number}: '{found.group(0).strip()}' reads a clock, sleeps or "
                       "draws random numbers; take base/clock.h or base/random.h as an argument")


def main() -> int:
    return source_tree.report("check_clocks", list(problems(TOP)))
