# SPDX-License-Identifier: Apache-2.0
"""The Go modules in a program, from the build information that Go puts into it.

The format is that of debug/buildinfo: a magic text, and at offset 32 from it two strings with their
length as varint, Go's version and the modules between two marks of 16 bytes.
"""
from pathlib import Path
from typing import NamedTuple

MAGIC = b"\xff Go buildinf:"
HEADER, MARK = 32, 16
INLINE = 2  # a flag: the strings follow the header


class Module(NamedTuple):
    path: str
    version: str


def read(path: str | Path) -> list[Module]:
    """The modules, Go's own standard library first; empty: it is no program of Go."""
    data = Path(path).read_bytes()
    at = data.find(MAGIC)
    while at >= 0 and not data[at + len(MAGIC) + 1] & INLINE:
        at = data.find(MAGIC, at + 1)
    if at < 0:
        return []
    go, end = text(data, at + HEADER)
    modules, _ = text(data, end)
    return [Module("std", go.decode().removeprefix("go")), *listed(modules[MARK:-MARK].decode())]


def text(data: bytes, at: int) -> tuple[bytes, int]:
    """A string and where it ends."""
    size, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return data[at:at + size], at + size


def listed(lines: str) -> list[Module]:
    found: list[Module] = []
    for line in lines.splitlines():
        words = line.split("\t")
        if words[0] == "dep":
            found.append(Module(words[1], words[2]))
        elif words[0] == "=>" and found:  # what is built in the place of the one before
            found[-1] = Module(words[1], words[2] if len(words) > 2 else "")
    return found
