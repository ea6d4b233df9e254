# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of components.toml by sha256: components.d/debian.sha256.

Debian removes a version when it publishes a correction of it, so a digest alone would stop every
build on that day. A package is taken when it has a digest that is pinned, or when it is newer than
what is pinned for this architecture: apt has checked Debian's signature, and a line of the log says
so. Other bytes for a pinned version, and an older version, are refused.
"""
import hashlib
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS

FILE = TOOLS / "components.d" / "debian.sha256"
HEADER = "# sha256, package, version, architecture: `tools/components pin` writes it.\n"


class Pin(NamedTuple):
    sha256: str
    package: str
    version: str
    architecture: str


def load(file: Path = FILE) -> list[Pin]:
    return [Pin(*line.split()) for line in file.read_text().splitlines()
            if line and not line.startswith("#")]


def packages_of(entry: dict[str, Any]) -> list[str]:
    """What an entry of kind deb is made of; patchelf writes the place of libraries into it."""
    libraries: list[str] = entry.get("libraries", [])
    return [entry["package"], *libraries, *(["patchelf"] if libraries else [])]


def check(file: Path, pins: Iterable[Pin]) -> str | None:
    """Refuses a package that must not be unpacked. A sentence when it is newer than its pin."""
    package, version, architecture = (_output(["dpkg-deb", "-f", str(file), field])
                                      for field in ("Package", "Version", "Architecture"))
    known = [each for each in pins if (each.package, each.architecture) == (package, architecture)]
    if hashlib.sha256(file.read_bytes()).hexdigest() in [each.sha256 for each in known]:
        return None
    if any(each.version == version for each in known):
        raise ToolError(f"{package} {version} has another sha256 than {FILE.name}")
    if any(not newer(version, each.version) for each in known):
        raise ToolError(f"{package} {version} is older than that of {FILE.name}")
    return f"{package} {version} is not in {FILE.name}: checked by Debian's signature only"


def newer(version: str, than: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", than],
                          check=False).returncode == 0


def renew(entries: Iterable[dict[str, Any]]) -> list[Pin]:
    """Pins what apt would fetch now, beside the pins of other architectures."""
    names = sorted({name for entry in entries if entry["kind"] == "deb"
                    for name in packages_of(entry)})
    found = [_candidate(name) for name in names]
    here = {_output(["dpkg", "--print-architecture"]), "all"}
    kept = [each for each in load() if each.architecture not in here and each.package in names]
    pins = sorted([*found, *kept], key=lambda each: (each.package, each.architecture))
    FILE.write_text(HEADER + "".join(" ".join(each) + "\n" for each in pins))
    return pins


def _candidate(name: str) -> Pin:
    shown = _output(["apt-cache", "show", "--no-all-versions", name])
    fields = dict(line.split(": ", 1) for line in shown.splitlines() if ": " in line)
    return Pin(fields["SHA256"], name, fields["Version"], fields["Architecture"])


def _output(argv: list[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"'{' '.join(argv)}' failed: {done.stderr.strip()}")
    return done.stdout.strip()
