# SPDX-License-Identifier: Apache-2.0
"""Collects the files of an image: our programs, pinned components, files of this system."""
import subprocess
from collections.abc import Sequence
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.images import bundles, hardening
from paddle_tools.images.content import Content, stripped_copy
from paddle_tools.images.definitions import Definition


class ImageBuilder:
    """`scratch` is a directory for copies."""

    def __init__(self, top: Path, scratch: str | Path) -> None:
        self._top, self._scratch = Path(top), Path(scratch)
        self._stripped: dict[str, Path] = {}

    def content(self, entry: Definition) -> Content:
        content = Content()
        for name in entry["bundles"]:
            bundles.ALL[name](content, self)
        for path, source in entry["programs"].items():
            content.program(path, self._source(source))
        for path, source in entry["files"].items():
            found = self._source(source)
            if found.is_dir():
                content.tree(found, path, with_libraries=source not in entry["needed_by"])
            else:
                content.file(path, found)
        for source in entry["needed_by"]:
            content.needed_by(self._source(source))
        for path, mode in entry["directories"].items():
            content.directory(path, int(mode, 8))
        for path, target in entry["links"].items():
            content.link(path, target)
        content.libraries()
        return content

    def component(self, name: str) -> Path:
        """The path of a component, which is installed first if it is missing."""
        tool = self._top / "tools" / "components"
        done = self._run([tool, "path", name])
        if done.returncode != 0:
            installed = self._run([tool, "install", name])
            if installed.returncode != 0:
                raise ToolError(f"the component {name} cannot be installed: "
                                f"{last_line(installed.stderr or installed.stdout)}")
            done = self._run([tool, "path", name])
        if done.returncode != 0:
            raise ToolError(last_line(done.stderr).removeprefix("components: "))
        return Path(done.stdout.strip())

    def _source(self, source: str) -> Path:
        kind, _, name = source.partition(":")
        if kind == "build":
            return self._own_program(name)
        if kind == "component":
            path = self.component(name)
        else:
            path = Path(name) if kind == "system" else self._top / name
        if not path.exists():
            raise ToolError(f"there is no {path}; run: tools/bootstrap")
        return path

    def _own_program(self, name: str) -> Path:
        if name not in self._stripped:
            path = self._top / "build" / "bin" / name
            if not path.exists() or not self._is_release(path.parent):
                print(f"images: build/bin/{name} is missing, or the quickstart's: make build",
                      flush=True)
                done = self._run(["make", "-C", self._top, "build"])
                if done.returncode != 0 or not path.exists():
                    raise ToolError(f"build/bin/{name} could not be built; run: make build")
            if lacking := hardening.missing(path):
                raise ToolError(f"build/bin/{name} lacks {'; '.join(lacking)}; build it with the "
                                "preset release: make build")
            self._stripped[name] = stripped_copy(path, self._scratch)
        return self._stripped[name]

    def _is_release(self, folder: Path) -> bool:
        """False for the quickstart's programs, which lie in the same place but lack CSI."""
        marker = folder / ".built"
        return marker.exists() and marker.read_text() == "with CSI"

    @staticmethod
    def _run(argv: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([str(each) for each in argv], check=False, capture_output=True,
                              text=True)


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "there was no output"
