# SPDX-License-Identifier: Apache-2.0
"""A shell as a reader has one: variables that are exported and the directory stay from command to
command, and what is printed to both outputs is seen in its order."""
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Self

LIMIT = 900  # seconds for one command; it stops what hangs


class Shell:
    """with Shell(directory, variables) as shell: ..."""

    def __init__(self, directory: Path, variables: Mapping[str, str],
                 limit: float = LIMIT) -> None:
        self._limit = limit
        self._variables = dict(variables)
        self._state = tempfile.TemporaryDirectory(prefix="doc-run.")
        self._file = Path(self._state.name) / "state.sh"
        self._file.write_text(f"cd {shlex.quote(str(directory))}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._state.cleanup()

    def run(self, command: str, limit: float | None = None) -> tuple[int, str]:
        """(exit code, output). A command that hangs is ended with all that it started."""
        limit = limit or self._limit
        file = shlex.quote(str(self._file))
        script = (f"set -o pipefail; . {file}\n{command}\ncode=$?\n"
                  f"{{ export -p; echo \"cd $(printf %q \"$PWD\")\"; }} > {file}; exit $code")
        child = subprocess.Popen(["/bin/bash", "-c", script], env=self._variables, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            return 124, f"{output}\n(ended after {limit} s)"
        except BaseException:  # the reader is stopped
            os.killpg(child.pid, signal.SIGKILL)
            raise
        return child.returncode, output
