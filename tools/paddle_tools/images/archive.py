# SPDX-License-Identifier: Apache-2.0
"""Writes an image as a docker archive, for `docker load`, `podman load`, `skopeo`, `ctr import`.

One uncompressed layer. The same content gives the same bytes.
"""
import hashlib
import io
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any, BinaryIO

from paddle_tools.errors import ToolError
from paddle_tools.images.content import Content, Directory, File
from paddle_tools.images.definitions import Definition

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
EPOCH = "1970-01-01T00:00:00Z"


class Hashing(io.RawIOBase):
    """Writes to a file and computes the SHA-256 of what it writes."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self.sum = file, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sum.update(data)
        return self._file.write(data)


def header(name: str, mode: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode, info.uname, info.gname = mode, "", ""
    return info


def write_layer(content: Content, file: BinaryIO) -> str:
    """Writes the layer's tar into `file`; returns its digest."""
    out = Hashing(file)
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for path, entry in content.sorted():
            name = path.lstrip("/")
            if isinstance(entry, Directory):
                info = header(name, entry.mode)
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            elif isinstance(entry, File):
                add_file(tar, name, entry)
            else:
                info = header(name, 0o777)
                info.type, info.linkname = tarfile.SYMTYPE, entry.target
                tar.addfile(info)
    return out.sum.hexdigest()


def add_file(tar: tarfile.TarFile, name: str, entry: File) -> None:
    info = header(name, entry.mode)
    if isinstance(entry.source, bytes):
        info.size = len(entry.source)
        tar.addfile(info, io.BytesIO(entry.source))
        return
    with open(entry.source, "rb") as source:
        info.size = os.fstat(source.fileno()).st_size
        tar.addfile(info, source)


def config(entry: Definition, layer: str) -> dict[str, Any]:
    """The image's configuration, as the OCI image specification defines it."""
    run = {"Env": entry["env"], "WorkingDir": entry["workdir"]}
    for key, value in (("User", entry["user"]), ("Entrypoint", entry["entrypoint"]),
                       ("Cmd", entry["command"]), ("Labels", entry["labels"])):
        if value:
            run[key] = value
    machine = os.uname().machine
    if machine not in MACHINES:
        raise ToolError(f"images are made for {', '.join(MACHINES)}; this machine is {machine}")
    return {"architecture": MACHINES[machine], "os": "linux", "created": EPOCH, "config": run,
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer}"]},
            "history": [{"created": EPOCH, "created_by": "tools/images"}]}


def write(content: Content, entry: Definition, target: str | Path) -> None:
    """`target` appears complete or not at all."""
    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    layer_file = target.with_suffix(".layer")
    made = target.with_suffix(".new")
    try:
        with open(layer_file, "wb") as file:
            layer = write_layer(content, file)
        settings = json.dumps(config(entry, layer), sort_keys=True).encode()
        image = hashlib.sha256(settings).hexdigest()
        manifest = json.dumps([{"Config": f"{image}.json", "Layers": [f"{layer}/layer.tar"],
                                "RepoTags": [entry["reference"]]}]).encode()
        with tarfile.open(made, "w", format=tarfile.GNU_FORMAT) as tar:
            with open(layer_file, "rb") as file:
                info = header(f"{layer}/layer.tar", 0o644)
                info.size = os.fstat(file.fileno()).st_size
                tar.addfile(info, file)
            for name, data in ((f"{image}.json", settings), ("manifest.json", manifest)):
                info = header(name, 0o644)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        made.rename(target)
    finally:
        layer_file.unlink(missing_ok=True)
        made.unlink(missing_ok=True)


def unpack(content: Content, directory: str | Path) -> None:
    """Writes the same files to a directory, which has to be empty."""
    directory = Path(directory)
    if directory.is_dir() and any(directory.iterdir()):
        raise ToolError(f"{directory} is not empty; name another directory")
    directory.mkdir(parents=True, exist_ok=True)
    later = []
    for path, entry in content.sorted():
        place = directory / path.lstrip("/")
        if isinstance(entry, Directory):
            place.mkdir(exist_ok=True)
            later.append((place, entry.mode))
        elif isinstance(entry, File):
            if isinstance(entry.source, bytes):
                place.write_bytes(entry.source)
            else:
                shutil.copyfile(entry.source, place)
            place.chmod(entry.mode)
        else:
            place.symlink_to(entry.target)
    for place, mode in later:
        place.chmod(mode)
