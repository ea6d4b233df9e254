# SPDX-License-Identifier: Apache-2.0
"""Which shared libraries a program needs, read from the file itself: nothing is run.

    read(path) -> Elf, or None when it is no ELF file
    Finder().closure(paths) -> {soname: path} of all libraries that the loader would load
"""
import functools
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from paddle_tools.errors import ToolError


class Elf(NamedTuple):
    interpreter: str
    needed: list[str]  # names of libraries
    search: list[str]  # directories of RPATH and RUNPATH
    machine: int


class Segment(NamedTuple):
    kind: int
    offset: int
    address: int
    size: int


LOAD, DYNAMIC, INTERPRETER = 1, 2, 3
NEEDED, STRING_TABLE, RPATH, RUNPATH = 1, 5, 15, 29
MULTIARCH = {62: "x86_64-linux-gnu", 183: "aarch64-linux-gnu"}


def read(path: str | Path) -> Elf | None:
    """Reads 64-bit little-endian files, as on the machines that we build for."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
            return None
        machine, = struct.unpack_from("<H", head, 18)
        table, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        segments = []
        for index in range(count):
            file.seek(table + index * size)
            kind, _, offset, address, _, length = struct.unpack("<IIQQQQ", file.read(40))
            segments.append(Segment(kind, offset, address, length))
        interpreter = next((text(file, each.offset) for each in segments
                            if each.kind == INTERPRETER), "")
        return Elf(interpreter, *dynamic(file, segments), machine)


def dynamic(file: BinaryIO, segments: list[Segment]) -> tuple[list[str], list[str]]:
    """(names of needed libraries, directories to search first)."""
    section = next((each for each in segments if each.kind == DYNAMIC), None)
    if section is None:
        return [], []
    file.seek(section.offset)
    entries = list(struct.iter_unpack("<QQ", file.read(section.size // 16 * 16)))
    strings = next((value for tag, value in entries if tag == STRING_TABLE), 0)
    home = next((each for each in segments if each.kind == LOAD
                 and each.address <= strings < each.address + each.size), None)
    if home is None:
        return [], []
    base = strings - home.address + home.offset
    named = [text(file, base + value) for tag, value in entries if tag == NEEDED]
    search = [part for tag, value in entries if tag in (RPATH, RUNPATH)
              for part in text(file, base + value).split(":") if part]
    return named, search


def text(file: BinaryIO, offset: int) -> str:
    file.seek(offset)
    found = b""
    while b"\0" not in found:
        more = file.read(256)
        if not more:
            break
        found += more
    return found.split(b"\0")[0].decode()


class Finder:
    """Looks libraries up where the dynamic loader of this machine does."""

    def __init__(self, configured: str = "/etc/ld.so.conf") -> None:
        self._configured = list(configured_directories(Path(configured)))

    def closure(self, paths: Iterable[str | Path], lenient: Sequence[Path] = ()) -> dict[str, Path]:
        """{soname: path} of the libraries of all files; none for a static program. Files beneath a
        `lenient` directory may miss some: plug-ins for hardware that this machine lacks."""
        found: dict[str, Path] = {}
        waiting = [Path(each) for each in paths]
        while waiting:
            path = waiting.pop()
            elf = read(path)
            if elf is None:
                continue
            for name in elf.needed:
                if name in found or is_loader(name):
                    continue
                library = self._find(name, elf, path)
                if library:
                    found[name] = library
                    waiting.append(library)
                elif not any(each in path.resolve().parents for each in lenient):
                    raise ToolError(f"{path} needs {name}, which is not on this machine; "
                                    "run: tools/bootstrap")
        return found

    def _find(self, name: str, elf: Elf, needed_by: Path) -> Path | None:
        origin = str(needed_by.resolve().parent)
        own = [each.replace("$ORIGIN", origin).replace("${ORIGIN}", origin) for each in elf.search]
        multiarch = MULTIARCH.get(elf.machine, "")
        usual = [f"/lib/{multiarch}", f"/usr/lib/{multiarch}", "/lib", "/usr/lib"]
        for directory in [*own, *self._configured, *usual]:
            path = Path(directory) / name
            if path.is_file() and machine_of(path) == elf.machine:
                return path
        return None


def is_loader(name: str) -> bool:
    return name.startswith("ld-linux")


@functools.cache
def machine_of(path: Path) -> int | None:
    elf = read(path)
    return elf.machine if elf else None


def configured_directories(path: Path) -> Iterator[str]:
    """The directories in /etc/ld.so.conf and in the files that it includes."""
    if not path.is_file():
        return
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["include"]:
            for pattern in words[1:]:
                base = Path(os.path.dirname(pattern) or path.parent)
                for each in sorted(base.glob(os.path.basename(pattern))):
                    yield from configured_directories(each)
        elif words:
            yield words[0]
