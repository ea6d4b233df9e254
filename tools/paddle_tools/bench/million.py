# SPDX-License-Identifier: Apache-2.0
"""samplefs with a set of a million files: memory, start, index, sealed view: bench/README.md.

The files exist as a listing only (listing_stub.py); those that are read come over a slow link.
"""
import json
import random
import sys
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from paddle_tools.bench import listing_stub, machine
from paddle_tools.bench import read_subjects as subjects
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.sandbox import SANDBOX, Daemon, run

PROGRAMS = {"bench": ("read_files", "mount_samples", "seal_index"), "bin": ("paddle-cache",)}
FILES, QUICK_FILES = 1_000_000, 20_000
READERS = 8
READ_FILES, QUICK_READ_FILES = 2_000, 100
LINK_MBIT, ROUND_TRIP_MS = 50, 20
STARTS = 5
PORT = 7070
SYNC_LIMIT = 1800.0


class StubLink:
    """What a subject needs of a link to a server, of the stub."""
    server = SimpleNamespace(access_key="bench", secret_key="bench-secret")

    @staticmethod
    def endpoint(far: bool) -> str:
        del far  # the stub has the slow link in itself
        return f"http://127.0.0.1:{PORT}"


class MillionSet(subjects.SampleFs):
    """The runtime, whose memory is watched from its start."""
    memory: machine.PeakAnonymousMemory

    def __init__(self, programs: Path, watch: ExitStack) -> None:
        self._watch = watch
        self.build_seconds = 0.0
        link: Any = StubLink()
        super().__init__("million", programs, link, False, f"s3://{listing_stub.BUCKET}")

    def begin(self, kind: str) -> str:
        if kind == "sync":
            self.memory = self._watch.enter_context(machine.PeakAnonymousMemory(self._runtime))
        return super().begin(kind)

    def finish(self, name: str, limit: float = SYNC_LIMIT) -> Json:
        begin = time.monotonic()
        report = super().finish(name, limit)
        if name.startswith("sync"):
            self.build_seconds = time.monotonic() - begin
        return report

    def start_again(self) -> float:
        """Milliseconds from the start of a process until it answers; the one before was stopped."""
        argv = self._runtime.process.args
        if not isinstance(argv, list):
            raise ToolError("the runtime was not started by a list of arguments")
        begin = time.monotonic()
        self._runtime = Daemon("million-again", argv)
        end = begin + 60
        while time.monotonic() < end:
            try:
                with urllib.request.urlopen(f"http://{self._address}/readyz", timeout=5):
                    return (time.monotonic() - begin) * 1e3
            except OSError:
                time.sleep(0.001)
        raise ToolError(f"the runtime did not start again:\n{self._runtime.tail()}")

    def stop_runtime(self) -> None:
        self._runtime.stop()


def log(text: str) -> None:
    print(f"bench: {text}", flush=True)


def read_some(programs: Path, root: Path, count: int, files: int, seed: int) -> None:
    """Random files of the set, by as many readers as a node has."""
    keys = listing_stub.Keys(count)
    order = SANDBOX / "order"
    chosen = random.Random(seed).sample(range(count), files)
    order.write_text("".join(f"{keys[each]}\n" for each in chosen))
    done = json.loads(run([programs / "read_files", root, order, str(READERS)]))
    if done["errors"] or done["bytes"] != files * listing_stub.SIZE:
        raise ToolError(f"the files were not read as they are: {done}")


def measure(plan: Json) -> None:
    """Runs inside the sandbox; leaves million.json."""
    programs = SANDBOX / "programs"
    count = QUICK_FILES if plan["quick"] else FILES
    files = QUICK_READ_FILES if plan["quick"] else READ_FILES
    facts = {**machine.describe(SANDBOX), "files": f"{count:,} x {listing_stub.SIZE:,} bytes",
             "seed": plan["seed"],
             "readers": f"{READERS}, {files:,} files over {LINK_MBIT} Mbit/s, {ROUND_TRIP_MS} ms"}
    stub = Daemon("stub", [sys.executable, "-B", listing_stub.__file__, str(count), str(PORT),
                           str(LINK_MBIT), str(ROUND_TRIP_MS)]).wait_for_line("listening")
    with ExitStack() as watch:
        log(f"a sync of {count:,} objects")
        subject = MillionSet(programs, watch)
        log(f"done in {subject.build_seconds:.1f} s; {READERS} readers")
        read_some(programs, subject.root, count, files, plan["seed"])
        memory = subject.memory
    subject.stop()
    starts = []
    for _ in range(STARTS):
        starts.append(subject.start_again())
        subject.stop_runtime()
    stub.stop()
    generations = (SANDBOX / "million" / "cache").glob("index.*")
    index = max(generations, key=lambda each: int(each.suffix[1:]))
    sealed = json.loads(run([programs / "seal_index", index]))
    if sealed["files"] != count:
        raise ToolError(f"the index has {sealed['files']} files, not {count}")
    figures = {"rss_anon_mib_million": round(memory.kib / 1024, 1),
               "start_ms_million": round(sorted(starts)[STARTS // 2], 1),
               "index_build_s_million": round(subject.build_seconds, 2),
               "index_open_ms_million": sealed["open_ms"],
               "seal_s_million": sealed["seal_s"]}
    (SANDBOX / "million.json").write_text(json.dumps(
        {"facts": facts, "figures": figures, "starts_ms": [round(each, 1) for each in starts],
         "index_bytes": index.stat().st_size, "sealed": sealed}, indent=1) + "\n")
