# SPDX-License-Identifier: Apache-2.0
"""Where the files of an image come from: our programs, pinned components, this system."""
import subprocess
from pathlib import Path

from paddle_tools.errors import Failure
from paddle_tools.images import bundles
from paddle_tools.images.content import Content, stripped


class Workshop:
    """Collects the content of images. `scratch` is a directory for copies."""

    def __init__(self, top, scratch):
        self._top, self._scratch = Path(top), Path(scratch)
        self._stripped = {}

    def content(self, entry):
        content = Content()
        for name in entry["bundles"]:
            bundles.ALL[name](content, self)
        for path, source in entry["programs"].items():
            content.program(path, self._source(source))
        for path, source in entry["files"].items():
            found = self._source(source)
            if found.is_dir():
                content.tree(found, path)
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

    def component(self, name):
        """Its path; installed first when it is missing."""
        tool = self._top / "tools" / "components"
        done = self._run([tool, "path", name])
        if done.returncode != 0:
            installed = self._run([tool, "install", name])
            if installed.returncode != 0:
                raise Failure(f"the component {name} cannot be installed: "
                              f"{last_line(installed.stderr or installed.stdout)}")
            done = self._run([tool, "path", name])
        if done.returncode != 0:
            raise Failure(last_line(done.stderr).removeprefix("components: "))
        return Path(done.stdout.strip())

    def _source(self, source):
        kind, _, name = source.partition(":")
        if kind == "build":
            return self._own_program(name)
        path = {"component": self.component, "system": Path,
                "file": lambda each: self._top / each}[kind](name)
        if not path.exists():
            raise Failure(f"there is no {path}; run: tools/bootstrap")
        return path

    def _own_program(self, name):
        if name not in self._stripped:
            path = self._top / "build" / "bin" / name
            if not path.exists() or not self._is_release(path.parent):
                print(f"images: build/bin/{name} is missing, or the quickstart's: make build",
                      flush=True)
                done = self._run(["make", "-C", self._top, "build"])
                if done.returncode != 0 or not path.exists():
                    raise Failure(f"build/bin/{name} could not be built; run: make build")
            self._stripped[name] = stripped(path, self._scratch)
        return self._stripped[name]

    def _is_release(self, folder):
        """The quickstart's programs lie in the same place, but can do less."""
        marker = folder / ".built"
        return marker.exists() and marker.read_text() == "with CSI"

    @staticmethod
    def _run(argv):
        return subprocess.run([str(each) for each in argv], check=False, capture_output=True,
                              text=True)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
