# SPDX-License-Identifier: Apache-2.0
"""What passed, failed and was skipped, how long each step took, and the last lines of a run.

PADDLE_TIMES names a file to which a run adds a line of JSON per step; tools/times reports them.
"""
import json
import os
import resource
import sys
import threading
import time
from contextlib import contextmanager

TIMES = os.environ.pop("PADDLE_TIMES", None)  # this run's; what it starts notes nothing


def processor_time():
    """Of every child that has ended, and theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def note(**entry):
    """For the report at the end of CI; does nothing elsewhere."""
    if TIMES:
        with open(TIMES, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


class Tally:
    """Thread-safe; prints whole lines."""

    def __init__(self):
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self.passed = 0
        self.failures = []  # (name, one line)
        self.notes = {}     # of failures, by name
        self.skips = []     # (name, how many, reason, whether a component is missing)

    def say(self, text):
        with self._lock:
            print(text, flush=True)

    def passes(self, count=1):
        with self._lock:
            self.passed += count

    def fails(self, name, reason, detail="", reproduce=""):
        with self._lock:
            self.failures.append((name, reason))
            print(f"FAILED {name}: {reason}", flush=True)
            for line in detail.rstrip().splitlines():
                print(f"    {line}")
            if reproduce:
                print(f"    reproduce: {reproduce}", flush=True)

    def note(self, name, text):
        """What else is known about a failure; it stays one."""
        with self._lock:
            self.notes[name] = text

    def skip(self, name, reason, count=1, missing=False):
        with self._lock:
            self.skips.append((name, count, reason, missing))

    @contextmanager
    def step(self, title):
        """Says what begins and how long it took; processor time tells slow from waiting its turn."""
        start, busy = time.monotonic(), processor_time()
        self.say(f"== {title}")
        try:
            yield
        finally:
            took, used = time.monotonic() - start, processor_time() - busy
            self.say(f"   {title}: {took:.1f} s ({used:.0f} s of processor time)")
            note(step=title, seconds=round(took, 1), processor_seconds=round(used, 1))

    def finish(self, ci):
        """Prints the summary; the exit code."""
        skipped = sum(count for _, count, _, _ in self.skips)
        self.say(f"== total {time.monotonic() - self._start:.0f} s")
        if self.skips:
            self.say("skipped:")
            for name, count, reason, _ in self.skips:
                self.say(f"  {name} ({count}): {reason}")
        if self.failures:
            self.say("failed:")
            for name, reason in self.failures:
                more = f" ({self.notes[name]})" if name in self.notes else ""
                self.say(f"  {name}: {reason}{more}")
        lost = ci and any(missing for _, _, _, missing in self.skips)
        if lost:
            self.say("this is CI (CI=true): a missing component counts as a failed run")
        self.say(f"{self.passed} passed, {len(self.failures)} failed, {skipped} skipped")
        sys.stdout.flush()
        note(passed=self.passed, failed=len(self.failures), skipped=skipped)
        return 1 if self.failures or lost else 0
