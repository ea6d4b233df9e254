# SPDX-License-Identifier: Apache-2.0
"""Shell scripts are clean for shellcheck."""
import shutil
import subprocess
import sys
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP


def shell_files(top: str | Path) -> list[Path]:
    return [each for each in source_tree.list_files(top) if source_tree.is_shell(top, each)]


def problems(top: str | Path) -> list[str]:
    files = [str(each) for each in shell_files(top)]
    done = subprocess.run(["shellcheck", "--format=gcc", *files], cwd=top, check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.splitlines() if done.returncode != 0 else []


def main() -> int:
    if not shutil.which("shellcheck"):
        print("check_shell: shellcheck is missing; run: tools/bootstrap", file=sys.stderr)
        return 1
    return source_tree.report("check_shell", problems(TOP))
