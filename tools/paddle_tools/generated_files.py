# SPDX-License-Identifier: Apache-2.0
"""The command line of tools that make files of this repository from others.

    tools/NAME            writes them
    tools/NAME --check    fails when one differs
"""
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP


@dataclass(frozen=True)
class Generator:
    name: str                                # of the tool
    usage: str                               # its documentation
    source: str                              # what the files are made from
    files: Callable[[Path], dict[str, str]]  # top -> path beneath it -> text

    def problems(self, top: Path) -> list[str]:
        """One sentence for each file that differs from what this tool would write."""
        return [f"{name} differs from {self.source}; run: tools/{self.name}"
                for name, text in self.files(top).items()
                if not (top / name).is_file() or (top / name).read_text() != text]

    def write(self, top: Path) -> None:
        for name, text in self.files(top).items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)
                print(f"{name} {len(text)} bytes")

    def main(self, argv: list[str]) -> int:
        try:
            if argv == []:
                self.write(TOP)
            elif argv == ["--check"]:
                for each in (found := self.problems(TOP)):
                    print(each)
                return 1 if found else 0
            else:
                print(self.usage, file=sys.stdout if argv == ["--help"] else sys.stderr)
                return 0 if argv == ["--help"] else 2
        except ToolError as failure:
            print(f"{self.name}: {failure}", file=sys.stderr)
            return 1
        return 0
