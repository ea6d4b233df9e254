# SPDX-License-Identifier: Apache-2.0
"""Counts what passed, failed and was skipped in a run, measures its steps, prints the summary.

PADDLE_TIMES names a file to which a run appends a line of JSON for each step; tools/times reads it.
"""
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

# Removed from the environment: programs that this run starts append nothing.
TIMES_FILE = os.environ.pop("PADDLE_TIMES", None)


def cpu_seconds() -> float:
    """Processor time of all child processes that have ended, and of their children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def append_record(**entry: str | int | float) -> None:
    """Appends a line to the file of PADDLE_TIMES, if there is one."""
    if TIMES_FILE:
        with open(TIMES_FILE, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


class Skip(NamedTuple):
    name: str
    cases: int
    reason: str
    missing: bool  # because a component is missing


class TestReport:
    """Thread-safe. Prints whole lines."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self.passed = 0
        self.failures: list[tuple[str, str]] = []  # (name, one line)
        self.notes: dict[str, str] = {}  # further facts about failures, by name
        self.skips: list[Skip] = []

    def log(self, text: str) -> None:
        with self._lock:
            print(text, flush=True)

    def add_passed(self, count: int = 1) -> None:
        with self._lock:
            self.passed += count

    def add_failure(self, name: str, reason: str, detail: str = "", reproduce: str = "") -> None:
        with self._lock:
            self.failures.append((name, reason))
            print(f"FAILED {name}: {reason}", flush=True)
            for line in detail.rstrip().splitlines():
                print(f"    {line}")
            if reproduce:
                print(f"    reproduce: {reproduce}", flush=True)

    def add_note(self, name: str, text: str) -> None:
        """A further fact about a failure; the failure still counts."""
        with self._lock:
            self.notes[name] = text

    def add_skipped(self, name: str, reason: str, count: int = 1, missing: bool = False) -> None:
        with self._lock:
            self.skips.append(Skip(name, count, reason, missing))

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Prints the title, then the elapsed time and the processor time."""
        start, busy = time.monotonic(), cpu_seconds()
        self.log(f"== {title}")
        try:
            yield
        finally:
            took, used = time.monotonic() - start, cpu_seconds() - busy
            self.log(f"   {title}: {took:.1f} s ({used:.0f} s of processor time)")
            append_record(step=title, seconds=round(took, 1), processor_seconds=round(used, 1))

    def finish(self, ci: bool) -> int:
        """Prints the summary; returns the exit code. In CI a missing component is a failure."""
        skipped = sum(each.cases for each in self.skips)
        self.log(f"== total {time.monotonic() - self._start:.0f} s")
        if self.skips:
            self.log("skipped:")
            for each in self.skips:
                self.log(f"  {each.name} ({each.cases}): {each.reason}")
        if self.failures:
            self.log("failed:")
            for name, reason in self.failures:
                more = f" ({self.notes[name]})" if name in self.notes else ""
                self.log(f"  {name}: {reason}{more}")
        missing = ci and any(each.missing for each in self.skips)
        if missing:
            self.log("this is CI (CI=true): a missing component counts as a failed run")
        self.log(f"{self.passed} passed, {len(self.failures)} failed, {skipped} skipped")
        sys.stdout.flush()
        append_record(passed=self.passed, failed=len(self.failures), skipped=skipped)
        return 1 if self.failures or missing else 0
