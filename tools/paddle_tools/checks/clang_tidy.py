# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy (.clang-tidy) on the whole tree, on files, or on what changed since a commit.

    tools/tidy             the whole tree, by unity translation units: each includes up to 16 files,
                           so that headers are parsed once for all of them
    tools/tidy --only PART of these units, those that have PART in their path
    tools/tidy FILE...     these files alone
    tools/check_tidy       the C++ files that changed since the commit in tools/tidy.base

Compilation databases are in build/tidy (unity) and build/clang. check_tidy remembers in
build/tidy-passed which contents passed, so that a file is checked again only when it, or a header
of ours that it includes, changed. Without changed files it costs nothing.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP

PROGRAM = "clang-tidy-14"
BASE_FILE = "tools/tidy.base"
UNITY_BUILD, FILES_BUILD = "build/tidy", "build/clang"
UNITY_SIZE = 16
PASSED = "build/tidy-passed"
OURS = ("src", "test", "bench")
# A unity translation unit includes source files; a header on its own has `#pragma once`.
UNITY_CHECKS = "-bugprone-suspicious-include"
EXTRA_ARGUMENTS = ["--extra-arg=-Wno-error", "--extra-arg=-Wno-pragma-once-outside-header"]
DIAGNOSTIC = re.compile(r"^(/.*?):(\d+):(\d+): (?:warning|error|note): ")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


# --- diagnostics ----------------------------------------------------------------------------------

def split_diagnostics(output: str) -> Iterator[str]:
    """The warnings and errors in clang-tidy's output, each with its notes and source lines."""
    block: list[str] = []
    for line in output.splitlines():
        found = DIAGNOSTIC.match(line)
        if found and ": note: " not in line:
            if block:
                yield "\n".join(block)
            block = [line]
        elif block:
            block.append(line)
    if block:
        yield "\n".join(block)


def unique_diagnostics(outputs: Iterable[str], top: Path) -> list[str]:
    """Each diagnostic once, though many translation units include a header; paths are relative."""
    found: dict[str, str] = {}
    for output in outputs:
        for each in split_diagnostics(output):
            found.setdefault(each.splitlines()[0], each)
    return [found[first].replace(f"{top}/", "") for first in sorted(found)]


# --- running --------------------------------------------------------------------------------------

def configure(top: Path, build: str, *options: str) -> None:
    """Configures the clang preset in a build directory, and generates the code of proto/."""
    generated = [f"generated/proto/{each.stem}.grpc.pb.h"
                 for each in sorted((top / "proto").glob("*.proto"))]
    for argv in (["cmake", "--preset", "clang", "-B", build, *options],
                 ["ninja", "-C", build, *generated]):
        done = subprocess.run(argv, cwd=top, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise ToolError(f"'{' '.join(argv)}' failed:\n{done.stdout[-3000:]}")


def run_tidy(top: Path, build: str, file: Path, options: Sequence[str] = ()) -> tuple[bool, str]:
    """Runs clang-tidy on one translation unit; returns (no error, output)."""
    header_filter = f"^{re.escape(str(top))}/({'|'.join(OURS)})/"  # POSIX: no (?:
    done = subprocess.run(
        [PROGRAM, "--quiet", "-p", build, f"--header-filter={header_filter}", *EXTRA_ARGUMENTS,
         *options, str(file)], cwd=top, check=False, text=True, capture_output=True)
    output = done.stdout
    if done.returncode != 0 and not any(split_diagnostics(output)):
        output += f"{file}:1:1: error: {PROGRAM} failed: {done.stderr[-2000:]}\n"
    return done.returncode == 0, output


def run_all(top: Path, build: str, files: Sequence[Path],
            options: Sequence[str] = ()) -> dict[Path, str]:
    """{file: output} of clang-tidy, several at once; prints how far it is and what is found."""
    outputs: dict[Path, str] = {}
    shown: set[str] = set()

    def run_one(file: Path) -> None:
        _, outputs[file] = run_tidy(top, build, file, options)
        print(f"[{len(outputs)}/{len(files)}] {file.name}", file=sys.stderr, flush=True)
        for each in unique_diagnostics([outputs[file]], top):
            first = each.splitlines()[0]
            if first not in shown:
                shown.add(first)
                print(first, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        list(pool.map(run_one, files))
    return outputs


def translation_units(top: Path, build: str) -> list[Path]:
    """The units of a compilation database, without generated code."""
    commands = json.loads((top / build / "compile_commands.json").read_text())
    files = {Path(each["directory"]) / each["file"] for each in commands}
    return sorted(each for each in files if "generated" not in each.parts)


def check_tree(top: Path, only: str = "") -> int:
    """The whole tree, by unity translation units; `only` is a part of their path."""
    configure(top, UNITY_BUILD, f"-DPADDLE_UNITY={UNITY_SIZE}")
    units = [each for each in translation_units(top, UNITY_BUILD) if only in str(each)]
    outputs = run_all(top, UNITY_BUILD, units, [f"--checks={UNITY_CHECKS}"])
    return source_tree.report("tidy", unique_diagnostics(outputs.values(), top))


def check_files(top: Path, files: Sequence[Path]) -> int:
    configure(top, FILES_BUILD)
    outputs = run_all(top, FILES_BUILD, [top / each for each in files])
    return source_tree.report("tidy", unique_diagnostics(outputs.values(), top))


# --- what changed ---------------------------------------------------------------------------------

def read_base(top: Path) -> str:
    """The commit in tools/tidy.base; empty when there is none."""
    lines = (top / BASE_FILE).read_text().splitlines()
    words = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return words[0] if words and words[0] != "none" else ""


def changed_files(top: Path, base: str) -> list[Path] | None:
    """The C++ files that differ from a commit; None when this clone does not have the commit."""
    def git(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(top), *argv], check=False, text=True,
                              capture_output=True)
    if git("cat-file", "-e", f"{base}^{{commit}}").returncode != 0:
        return None
    differ = git("diff", "--name-only", "--diff-filter=d", "-z", base, "--").stdout
    new = git("ls-files", "-z", "--others", "--exclude-standard").stdout
    paths = {Path(each) for each in (differ + new).split("\0") if each}
    return sorted(each for each in paths if source_tree.is_cxx(each) and each.parts[0] in OURS
                  and (top / each).is_file())


def included(top: Path, path: Path) -> set[Path]:
    """A file and all headers of ours that it includes, directly or not."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        each = waiting.pop()
        if each in found or not (top / each).is_file():
            continue
        found.add(each)
        for name in INCLUDE.findall((top / each).read_text()):
            waiting += [Path("src") / name, Path(name), each.parent / name]
    return found


def digest(top: Path, path: Path) -> str:
    """Changes when the file, a header of ours in it or the settings change."""
    total = hashlib.sha256((top / ".clang-tidy").read_bytes())
    for each in sorted(included(top, path)):
        total.update(f"{each}\0".encode() + (top / each).read_bytes())
    return total.hexdigest()


def check_changes(top: Path) -> int:
    base = read_base(top)
    if not base:
        print(f"check_tidy: {BASE_FILE} names no commit; nothing is checked")
        return 0
    changed = changed_files(top, base)
    if changed is None:
        print(f"check_tidy: this clone does not have the commit {base[:12]} of {BASE_FILE} "
              "(is it shallow?); nothing is checked")
        return 0
    digests = {each: digest(top, each) for each in changed}
    left = [each for each in changed if not (top / PASSED / digests[each]).exists()]
    if not left:
        return 0
    configure(top, FILES_BUILD)
    outputs = run_all(top, FILES_BUILD, [top / each for each in left])
    (top / PASSED).mkdir(parents=True, exist_ok=True)
    for each in left:
        if not any(split_diagnostics(outputs[top / each])):
            (top / PASSED / digests[each]).touch()
    return source_tree.report("check_tidy", unique_diagnostics(outputs.values(), top))


def tidy_main(argv: list[str]) -> int:
    if argv[:1] in (["--help"], ["-h"]):
        print(__doc__)
        return 0
    try:
        if argv[:1] == ["--only"] and len(argv) == 2:
            return check_tree(TOP, argv[1])
        return check_files(TOP, [Path(each) for each in argv]) if argv else check_tree(TOP)
    except (ToolError, OSError) as failure:
        print(f"tidy: {failure}", file=sys.stderr)
        return 1


def check_main() -> int:
    try:
        return check_changes(TOP)
    except (ToolError, OSError) as failure:
        print(f"check_tidy: {failure}", file=sys.stderr)
        return 1
