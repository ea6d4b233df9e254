# SPDX-License-Identifier: Apache-2.0
"""Makes the container images of images.toml, without a registry and without a daemon.

    tools/images build [NAME...]    build/images/NAME.tar; all that are there to be built when none
                                    is named
    tools/images root NAME DIR      only the files, for a Containerfile
    tools/images list               names, references, and the size of what is built

An image holds programs and the shared libraries that they name, no distribution. A file in
build/images is a docker archive: `ctr -n k8s.io images import`, `docker load -i`, `podman load -i`
and `skopeo copy docker-archive:` take it. The same input gives the same bytes. Beside it are
NAME.spdx.json, the bill of materials (SPDX 2.3), and NAME.sha256, the checksums of both for
`sha256sum -c`. A program of ours without the protections of the preset release is refused.

Programs come from build/bin (`make build` when they are missing), others from tools/components.
"""
import sys
import tempfile
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.images import archive, definitions, sbom
from paddle_tools.images.builder import ImageBuilder
from paddle_tools.images.definitions import Definition
from paddle_tools.paths import TOP

OUT = TOP / "build" / "images"


def wanted(names: list[str], entries: dict[str, Definition]) -> list[str]:
    for name in names:
        if name not in entries:
            raise ToolError(f"there is no image '{name}'; there are: {', '.join(entries)}")
    return names or [name for name, entry in entries.items() if entry["build"]]


def build(names: list[str], entries: dict[str, Definition]) -> None:
    with tempfile.TemporaryDirectory(prefix="paddle-images.") as scratch:
        builder = ImageBuilder(TOP, scratch)
        for name in wanted(names, entries):
            content = builder.content(entries[name])
            archive.write(content, entries[name], OUT / f"{name}.tar")
            sbom.write(content, entries[name], definitions.version(TOP), OUT / f"{name}.tar")
            print(f"images: {entries[name]['reference']} {megabytes(OUT / f'{name}.tar')} "
                  f"build/images/{name}.tar", flush=True)


def root(name: str, directory: str | Path, entries: dict[str, Definition]) -> None:
    with tempfile.TemporaryDirectory(prefix="paddle-images.") as scratch:
        content = ImageBuilder(TOP, scratch).content(entries[wanted([name], entries)[0]])
        archive.unpack(content, directory)


def show(entries: dict[str, Definition]) -> None:
    for name, entry in entries.items():
        path = OUT / f"{name}.tar"
        print(f"{entry['reference']:32} {megabytes(path) if path.exists() else 'not built'}")


def megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def main(argv: list[str]) -> int:
    try:
        entries = definitions.load(TOP)
        if argv[:1] == ["build"]:
            build(argv[1:], entries)
        elif argv[:1] == ["root"] and len(argv) == 3:
            root(argv[1], argv[2], entries)
        elif argv == ["list"]:
            show(entries)
        else:
            print(__doc__, file=sys.stdout if argv == ["--help"] else sys.stderr)
            return 0 if argv == ["--help"] else 2
    except (ToolError, OSError) as failure:
        print(f"images: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
