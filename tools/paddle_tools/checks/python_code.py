# SPDX-License-Identifier: Apache-2.0
"""Python is clean for ruff and mypy, and no file edits sys.path.

    tools/check_python          checks
    tools/check_python --fix    lets ruff repair what it can first

Their settings are in pyproject.toml. The linters are a pinned component (tools/components) and are
installed on first use; afterwards no network is needed.
"""
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOOLS, TOP

LINTERS = "python-linters"
# Programs find their package because it lies beside them (tools/README.md).
PATH_EDIT = re.compile(
    r"^[^#\n]*\bsys\.path\s*(?:\[[^\]]*\]\s*)?(?:\+?=|\.(?:insert|append|extend))", re.M)
NO_CHECK = re.compile(r"#\s*(?:noqa|type:\s*ignore|pylint:)")


def python_files(top: str | Path) -> list[Path]:
    return [each for each in source_tree.list_files(top) if source_tree.is_python(top, each)]


def problems(top: str | Path) -> Iterator[str]:
    """What no linter looks for."""
    for path in python_files(top):
        text = (Path(top) / path).read_text()
        for found in PATH_EDIT.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: edits sys.path; import from paddle_tools instead"
        for found in NO_CHECK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: '{found.group(0)}' switches a check off"


def install() -> Path | None:
    """Where the linters' packages are; None when they cannot be installed."""
    tool = TOOLS / "components"
    if subprocess.run([tool, "install", LINTERS], check=False).returncode != 0:
        return None
    return Path(subprocess.run([tool, "path", LINTERS], check=True, capture_output=True,
                               text=True).stdout.strip())


def main(argv: list[str]) -> int:
    if argv not in ([], ["--fix"]):
        print(__doc__, file=sys.stdout if argv == ["--help"] else sys.stderr)
        return 0 if argv == ["--help"] else 2
    code = source_tree.report("check_python", list(problems(TOP)))
    site = install()
    if site is None:
        return 1
    build = TOP / "build"
    files = [str(each) for each in python_files(TOP)]
    ruff: list[str | Path] = [site / "bin" / "ruff", "check", "--quiet",
                              "--cache-dir", build / "ruff", *argv, *files]
    mypy: list[str | Path] = [sys.executable, "-B", "-m", "mypy", "--no-error-summary"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    for command in (ruff, mypy):
        if subprocess.run(command, cwd=TOP, env=environment, check=False).returncode != 0:
            code = 1
    return code
