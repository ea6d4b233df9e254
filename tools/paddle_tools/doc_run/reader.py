# SPDX-License-Identifier: Apache-2.0
"""A reader who does what a page says, from its top to its end, and adds nothing.

The reader writes the files that the page shows under a name, runs its commands and compares what
they print. A command that only looks (`kubectl get`) is run again until its output is as shown, as
readers do who look too early. Each output is also compared with the shown text with one word
changed: a comparison that accepts that would prove nothing.
"""
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from paddle_tools.doc_run import output
from paddle_tools.doc_run.page import Commands, File, Page, without_comments

# Looks only, and ends by itself.
LOOKS = re.compile(r"(?:(?:sudo )?paddlectl local |kubectl (?:-n \S+ )?)"
                   r"(?:get|logs|describe|status|exec \S+ -- (?:ls|cat)|top)\b(?!.*\s-(?:w|f)\b)")
PATIENCE = 90.0  # seconds for which a reader looks again


class ReadingFailed(Exception):
    """Its text names the page, the line, and what was expected and found."""


class Runs(Protocol):
    def run(self, command: str) -> tuple[int, str]: ...


class Reader:
    """Reads pages in one shell. `directory` is where the commands are run and files are written;
    `top` is the repository, whose files a page may show."""

    def __init__(self, shell: Runs, directory: Path, top: Path,
                 log: Callable[[str], None] = print, patience: float = PATIENCE) -> None:
        self._shell, self._directory, self._top = shell, directory, top
        self._log, self._patience = log, patience
        self._written: list[Path] = []
        self.ran = self.compared = self.changed = 0

    def read(self, name: str, page: Page) -> None:
        """Raises ReadingFailed: at once when a command fails, at the end of the page when outputs
        are not as shown."""
        self._others: list[str] = []
        for step in page.steps:
            where = f"{name}:{step.line}"
            if isinstance(step, File):
                self._write(where, step)
            elif not step.not_run:
                self._do(where, step)
        if self._others:
            raise ReadingFailed("\n".join(self._others))

    def remove_files(self) -> None:
        """Removes the files that were written."""
        for path in self._written:
            path.unlink(missing_ok=True)
        self._written.clear()

    def _write(self, where: str, file: File) -> None:
        known = self._top / file.name
        if known.is_file() and known not in self._written:
            if without_comments(known.read_text()) != without_comments(file.text):
                raise ReadingFailed(f"{where}: {file.name} of the repository is another")
            return
        path = self._directory / file.name
        path.write_text(file.text)
        self._written.append(path)

    def _do(self, where: str, step: Commands) -> None:
        printed = [self._run(where, each) for each in step.commands]
        if step.shown is None:
            return
        end = time.monotonic() + self._patience
        looks = trailing_looks(step.commands)
        while problems := output.differences(step.shown, "".join(printed)):
            if not looks or time.monotonic() > end:
                self._others.append(f"{where}: {'; '.join(problems)}\n--- shown\n{step.shown}"
                                    f"--- printed\n{''.join(printed)}")
                return
            time.sleep(1)
            printed[-looks:] = [self._run(where, each, must_succeed=False)
                                for each in step.commands[-looks:]]
        self.compared += 1
        for word, changed in output.changed_words(step.shown):
            if not output.differences(changed, "".join(printed)):
                raise ReadingFailed(f"{where}: the comparison accepts another word for '{word}'")
            self.changed += 1

    def _run(self, where: str, command: str, must_succeed: bool = True) -> str:
        """Without `must_succeed` it is another look, whose failure shows in its output."""
        start = time.monotonic()
        end = start + self._patience
        code, text = self._shell.run(command)
        while code != 0 and LOOKS.match(command) and must_succeed and time.monotonic() < end:
            time.sleep(0.5)
            code, text = self._shell.run(command)
        if code != 0 and must_succeed:
            raise ReadingFailed(f"{where}: '{command}' ended with exit code {code}:\n"
                                f"{text[-3000:]}")
        if must_succeed:  # not another look
            self.ran += 1
            self._log(f"{where}: {command} ({time.monotonic() - start:.1f} s)")
        return text


def trailing_looks(commands: Sequence[str]) -> int:
    """How many commands at the end only look."""
    count = 0
    for command in reversed(commands):
        if not LOOKS.match(command):
            break
        count += 1
    return count
