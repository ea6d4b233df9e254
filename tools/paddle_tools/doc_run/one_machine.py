# SPDX-License-Identifier: Apache-2.0
"""Reads the pages on one machine (`paddlectl local`) in namespaces of its own: what the reader
installs and writes is gone with them.

    python3 -m paddle_tools.doc_run.one_machine KUBECTL    inside, started by run()
"""
import os
import shutil
import sys
from pathlib import Path

from paddle_tools import sandbox
from paddle_tools.doc_run import pages
from paddle_tools.doc_run.reader import Reader, ReadingFailed
from paddle_tools.doc_run.shell import Shell
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS, TOP
from paddle_tools.sandbox import SANDBOX

# Where pages install and write, other than in the reader's home directory.
WRITTEN = ("/usr/local/bin", "/srv")


def run(scratch: Path, kubectl: str) -> bool:
    """Whether every page can be read; what happens is shown."""
    with sandbox.scratch_directory(scratch) as directory:
        return sandbox.run_inside(directory, [
            "env", f"PYTHONPATH={TOOLS}", sys.executable, "-B", "-m",
            "paddle_tools.doc_run.one_machine", kubectl]) == 0


def inside(kubectl: str) -> int:
    sandbox.set_up_inside()
    for place in WRITTEN:
        written = SANDBOX / "written" / place.lstrip("/")
        written.mkdir(parents=True)
        sandbox.run(["mount", "--bind", written, place])
    programs = SANDBOX / "bin"
    programs.mkdir()
    (programs / "sudo").write_text('#!/bin/sh\nexec "$@"\n')  # the reader is root already
    (programs / "sudo").chmod(0o755)
    (programs / "kubectl").symlink_to(kubectl)
    variables = {**sandbox.environment(), "PADDLE_LOCAL_DIR": str(SANDBOX / "local")}
    variables["PATH"] = f"{programs}:/usr/local/bin:{variables['PATH']}"
    with Shell(TOP, variables) as shell:
        reader = Reader(shell, TOP, TOP, lambda line: print(f"      {line}", flush=True))
        try:
            for name in pages.LOCAL:
                reader.read(name, pages.load(TOP, name))
        except ReadingFailed as failure:
            print(failure, flush=True)
            return 1
        finally:
            reader.remove_files()
            shell.run("paddlectl local down --delete", limit=60)
    print(f"      {reader.ran} commands, {reader.compared} outputs as shown, {reader.changed} "
          "changed words noticed", flush=True)
    return 0 if reader.compared and reader.changed else 1


if __name__ == "__main__":
    if shutil.which("unshare") is None or os.geteuid() != 0:
        raise ToolError("namespaces need root and unshare")
    sys.exit(inside(sys.argv[1]))
