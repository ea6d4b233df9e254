# SPDX-License-Identifier: Apache-2.0
"""The files of an image as one value: path -> File, Link or Directory.

Paths are absolute, as on a system with a merged /usr: `/bin`, `/sbin`, `/lib` and `/lib64` are
links, and files put there are in `/usr`. Everything belongs to root; there are no times.
"""
import hashlib
import os
import posixpath
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from paddle_tools.errors import ToolError
from paddle_tools.images import elf


class File(NamedTuple):
    source: Path | bytes  # a file, or the content itself
    mode: int


class Link(NamedTuple):
    target: str


class Directory(NamedTuple):
    mode: int


Entry = File | Link | Directory

MERGED = ("bin", "sbin", "lib", "lib64")
LEFT_OUT = ("__pycache__",)
BUILD_ID_SIZE = 20
# The head of the note: sizes of name and content, kind, name.
BUILD_ID = b"\x04\0\0\0" + bytes([BUILD_ID_SIZE]) + b"\0\0\0\x03\0\0\0GNU\0"


class Content:
    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._programs: list[Path] = []  # whose libraries are added
        self._mounted: list[Path] = []  # directories that are not copied
        self.origins: list[Path] = []  # files of this system that made content came from
        for name in MERGED:
            self.entries[f"/{name}"] = Link(f"usr/{name}")
            self.directory(f"/usr/{name}")

    def file(self, path: str, source: Path | bytes, mode: int = 0o644) -> None:
        path = merged_usr(path)
        self.directory(posixpath.dirname(path))
        self.entries[path] = File(source, mode)

    def link(self, path: str, target: str) -> None:
        path = merged_usr(path)
        self.directory(posixpath.dirname(path))
        self.entries[path] = Link(target)

    def directory(self, path: str, mode: int = 0o755) -> None:
        path = merged_usr(path)
        if path in ("", "/"):
            return
        self.directory(posixpath.dirname(path))
        if not isinstance(self.entries.get(path), Directory) or mode != 0o755:
            self.entries[path] = Directory(mode)

    def program(self, path: str, source: str | Path) -> None:
        """A program. libraries() adds the libraries that it needs."""
        self.file(path, Path(source), 0o755)
        self._programs.append(Path(source))

    def tree(self, source: str | Path, to: str | None = None,
             leave_out: Sequence[str] = (), with_libraries: bool = True) -> None:
        """A directory as it is, with the libraries that programs and libraries in it need."""
        source, to = Path(source), to or str(source)
        if not source.is_dir():
            raise ToolError(f"there is no directory {source}; run: tools/bootstrap")
        for directory, inner, files in os.walk(source):
            inner[:] = sorted(set(inner) - set(LEFT_OUT) - set(leave_out))
            for name in sorted(set(files + inner) - set(leave_out)):
                path = Path(directory) / name
                place = posixpath.join(to, str(path.relative_to(source)))
                if path.is_symlink():
                    self.link(place, self._inner_target(path, source, to))
                elif path.is_file():
                    executable = path.stat().st_mode & stat.S_IXUSR
                    self.file(place, path, 0o755 if executable else 0o644)
                    if with_libraries:
                        self._programs.append(path)

    def needed_by(self, source: str | Path) -> None:
        """Only the libraries that a directory needs: it is mounted later, not copied."""
        self._mounted.append(Path(source).resolve())
        self._programs += sorted(each for each in Path(source).rglob("*.so*") if each.is_file())

    @staticmethod
    def _inner_target(path: Path, source: Path, to: str) -> str:
        """The target of a link: within the tree it is moved with it, else it stays."""
        target = os.readlink(path)
        if target.startswith(f"{source}/"):
            return posixpath.join(to, os.path.relpath(target, source))
        return target

    def libraries(self) -> None:
        """Adds the libraries of all programs so far, and the loader."""
        finder = elf.Finder()
        for source in self._programs:
            found = elf.read(source)
            if found and found.interpreter:
                self.file(found.interpreter, Path(found.interpreter).resolve(), 0o755)
        taken = {posixpath.basename(path) for path, entry in self.entries.items()
                 if isinstance(entry, File)}
        for name, path in finder.closure(self._programs, self._mounted).items():
            if name in taken or any(each in path.resolve().parents for each in self._mounted):
                continue  # it lies beside the program that needs it
            directory = elf.MULTIARCH[elf.machine_of(path) or 0]
            self.file(f"/usr/lib/{directory}/{name}", path.resolve())

    def sorted(self) -> list[tuple[str, Entry]]:
        return sorted(self.entries.items())

    def size(self) -> int:
        files = [each.source for each in self.entries.values() if isinstance(each, File)]
        return sum(len(each) if isinstance(each, bytes) else each.stat().st_size
                   for each in files)


def merged_usr(path: str) -> str:
    """The path below /usr, for one of the merged directories."""
    first = path.split("/")[1] if path.startswith("/") else ""
    if not first and path not in ("", "/"):
        raise ToolError(f"'{path}' is not an absolute path; write it in tools/images.toml with a /")
    return f"/usr{path}" if first in MERGED and path != f"/{first}" else path


def stripped_copy(source: str | Path, directory: str | Path) -> Path:
    """A copy without debugging information."""
    handle, copy = tempfile.mkstemp(dir=directory, prefix=Path(source).name + ".")
    os.close(handle)
    done = subprocess.run(["strip", "--strip-debug", "-o", copy, str(source)], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise ToolError(f"strip {source}: {done.stderr.strip() or 'failed'}; run: tools/bootstrap")
    path = Path(copy)
    path.write_bytes(with_own_build_id(path.read_bytes()))
    return path


def with_own_build_id(program: bytes) -> bytes:
    """The same program with a build id that depends on what is shipped alone. The linker's depends
    on debugging information, which differs by how and where the compiler was called."""
    at = program.find(BUILD_ID, 0, 4096) + len(BUILD_ID)
    if at < len(BUILD_ID):
        return program
    rest = program[:at] + bytes(BUILD_ID_SIZE) + program[at + BUILD_ID_SIZE:]
    own = hashlib.sha256(rest).digest()[:BUILD_ID_SIZE]
    return rest[:at] + own + rest[at + BUILD_ID_SIZE:]
