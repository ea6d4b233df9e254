# SPDX-License-Identifier: Apache-2.0
"""The files of an image as one value: path -> File, Link or Directory.

Paths are absolute and as on a merged-/usr system: `/bin`, `/sbin`, `/lib` and `/lib64` are links,
and what is put there lands in `/usr`. Everything belongs to root; times do not exist.
"""
import os
import posixpath
import stat
import subprocess
import tempfile
from collections import namedtuple
from pathlib import Path

from paddle_tools.errors import Failure
from paddle_tools.images import elf

File = namedtuple("File", "source mode")       # source: Path, or bytes
Link = namedtuple("Link", "target")
Directory = namedtuple("Directory", "mode")

MERGED = ("bin", "sbin", "lib", "lib64")
LEFT_OUT = ("__pycache__",)


class Content:
    def __init__(self):
        self.entries = {}
        self._programs = []
        self._elsewhere = []
        for name in MERGED:
            self.entries[f"/{name}"] = Link(f"usr/{name}")
            self.directory(f"/usr/{name}")

    def file(self, path, source, mode=0o644):
        path = merged(path)
        self.directory(posixpath.dirname(path))
        self.entries[path] = File(source, mode)

    def link(self, path, target):
        path = merged(path)
        self.directory(posixpath.dirname(path))
        self.entries[path] = Link(target)

    def directory(self, path, mode=0o755):
        path = merged(path)
        if path in ("", "/"):
            return
        self.directory(posixpath.dirname(path))
        if not isinstance(self.entries.get(path), Directory) or mode != 0o755:
            self.entries[path] = Directory(mode)

    def program(self, path, source):
        """A program; the libraries that it names come with it."""
        self.file(path, Path(source), 0o755)
        self._programs.append(Path(source))

    def tree(self, source, to=None, leave_out=()):
        """A directory as it is, with the libraries of whatever in it is a program or a library."""
        source, to = Path(source), to or str(source)
        if not source.is_dir():
            raise Failure(f"there is no directory {source}; run: tools/bootstrap")
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
                    self._programs.append(path)

    def needed_by(self, source):
        """Only the libraries that a directory needs besides its own; it is mounted, not copied."""
        self._elsewhere.append(Path(source).resolve())
        self._programs += sorted(each for each in Path(source).rglob("*.so*") if each.is_file())

    @staticmethod
    def _inner_target(path, source, to):
        """Links within the tree stay; one that leads out is as absolute as it was meant."""
        target = os.readlink(path)
        if target.startswith(f"{source}/"):
            return posixpath.join(to, os.path.relpath(target, source))
        return target

    def libraries(self):
        """Adds the libraries of all programs so far, and the loader."""
        finder = elf.Finder()
        for source in self._programs:
            found = elf.read(source)
            if found and found.interpreter:
                self.file(found.interpreter, Path(found.interpreter).resolve(), 0o755)
        taken = {posixpath.basename(path) for path, entry in self.entries.items()
                 if isinstance(entry, File)}
        for name, path in finder.closure(self._programs, self._elsewhere).items():
            if name in taken or any(each in path.resolve().parents for each in self._elsewhere):
                continue  # beside who asked for it
            directory = elf.MULTIARCH[elf.machine_of(path)]
            self.file(f"/usr/lib/{directory}/{name}", path.resolve())

    def sorted(self):
        return sorted(self.entries.items())

    def size(self):
        return sum(len(each.source) if isinstance(each.source, bytes) else
                   each.source.stat().st_size for each in self.entries.values()
                   if isinstance(each, File))


def merged(path):
    first = path.split("/")[1] if path.startswith("/") else ""
    if not first and path not in ("", "/"):
        raise Failure(f"'{path}' is not an absolute path; write it in tools/images.toml with a /")
    return f"/usr{path}" if first in MERGED and path != f"/{first}" else path


def stripped(source, directory):
    """A copy without what only a debugger reads."""
    handle, copy = tempfile.mkstemp(dir=directory, prefix=Path(source).name + ".")
    os.close(handle)
    done = subprocess.run(["strip", "--strip-debug", "-o", copy, str(source)], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"strip {source}: {done.stderr.strip() or 'failed'}; run: tools/bootstrap")
    return Path(copy)
