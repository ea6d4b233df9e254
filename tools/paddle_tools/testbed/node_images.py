# SPDX-License-Identifier: Apache-2.0
"""The two images that every cluster has, made of one static busybox: what holds a pod's namespaces,
and a shell for tests. A docker archive; the same input gives the same bytes."""
import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path

from paddle_tools.testbed.layout import BUSYBOX_IMAGE, PAUSE_IMAGE
from paddle_tools.testbed.process import run

# Waits, ends on SIGTERM, and reaps what a pod with one process namespace leaves behind.
_PAUSE = """#!/bin/sh
trap 'exit 0' TERM INT
while :; do
  sleep 2147483647 &
  wait
done
"""
_PASSWD = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"


def _add(archive: tarfile.TarFile, name: str, data: bytes = b"", mode: int = 0o644,
         kind: bytes = tarfile.REGTYPE, target: str = "") -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), target
    archive.addfile(entry, io.BytesIO(data))


def _layer(busybox: Path) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, mode in {"bin": 0o755, "etc": 0o755, "root": 0o700, "tmp": 0o1777}.items():
            _add(archive, name, mode=mode, kind=tarfile.DIRTYPE)
        _add(archive, "bin/busybox", busybox.read_bytes(), 0o755)
        for name in sorted(set(run(busybox, "--list").split()) - {"busybox"}):
            _add(archive, f"bin/{name}", mode=0o777, kind=tarfile.SYMTYPE, target="busybox")
        _add(archive, "etc/passwd", _PASSWD.encode())
        _add(archive, "etc/group", b"root:x:0:\nnobody:x:65534:\n")
        _add(archive, "pause", _PAUSE.encode(), 0o755)
    return out.getvalue()


def write(path: Path, busybox: Path) -> None:
    layer = _layer(busybox)
    digest = hashlib.sha256(layer).hexdigest()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    manifest, configs = [], {}
    for image, command in {PAUSE_IMAGE: ["/bin/sh", "/pause"], BUSYBOX_IMAGE: ["sh"]}.items():
        config = json.dumps({
            "architecture": machine, "os": "linux",
            "config": {"Cmd": command, "Env": ["PATH=/bin"]},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]}}).encode()
        name = f"{hashlib.sha256(config).hexdigest()}.json"
        configs[name] = config
        manifest.append({"Config": name, "RepoTags": [image], "Layers": ["layer.tar"]})
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "layer.tar", layer)
        for name, config in configs.items():
            _add(archive, name, config)
        _add(archive, "manifest.json", json.dumps(manifest).encode())
