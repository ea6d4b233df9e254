# SPDX-License-Identifier: Apache-2.0
"""Groups of files that several images share; tools/images.toml names them in `bundles`."""
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_tools.errors import ToolError
from paddle_tools.images.content import Content

if TYPE_CHECKING:
    from paddle_tools.images.builder import ImageBuilder

PASSWD = """\
root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
"""
GROUP = """\
root:x:0:
nobody:x:65534:
nonroot:x:65532:
"""
NSSWITCH = """\
passwd: files
group: files
hosts: files dns
"""
CERTIFICATES = Path("/usr/share/ca-certificates/mozilla")
ZONES = Path("/usr/share/zoneinfo")


def base(content: Content, _builder: "ImageBuilder | None") -> None:
    """Users, name lookup, a directory for temporary files."""
    content.file("/etc/passwd", PASSWD.encode())
    content.file("/etc/group", GROUP.encode())
    content.file("/etc/nsswitch.conf", NSSWITCH.encode())
    content.directory("/tmp", 0o1777)
    content.directory("/home/nonroot")


def certificates(content: Content, _builder: "ImageBuilder | None") -> None:
    """The CA certificates of Debian, without those that were added to this machine."""
    found = sorted(CERTIFICATES.glob("*.crt"))
    if not found:
        raise ToolError(f"there are no certificates in {CERTIFICATES}; run: tools/bootstrap")
    text = b"".join(path.read_bytes().rstrip(b"\n") + b"\n" for path in found)
    content.file("/etc/ssl/certs/ca-certificates.crt", text)
    content.origins.append(found[0])
    content.link("/usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")


def zones(content: Content, _builder: "ImageBuilder | None") -> None:
    """Time zones, without the copies for leap seconds."""
    content.tree(ZONES, leave_out=("right", "posix", "localtime"))


def shell(content: Content, builder: "ImageBuilder") -> None:
    """Busybox and a link for each of its commands; a program added later replaces its link."""
    busybox = builder.component("busybox")
    content.program("/usr/bin/busybox", busybox)
    listed = subprocess.run([str(busybox), "--list"], env={}, check=True, capture_output=True,
                            text=True).stdout
    for name in listed.split():
        if name != "busybox":
            content.link(f"/usr/bin/{name}", "busybox")


def python(content: Content, _builder: "ImageBuilder | None") -> None:
    """The system's Python 3 with its standard library."""
    program = Path("/usr/bin/python3").resolve()
    library = Path("/usr/lib") / program.name
    content.program(f"/usr/bin/{program.name}", program)
    content.link("/usr/bin/python3", program.name)
    content.link("/usr/bin/python", program.name)
    for_compilers = (each.name for each in library.glob("config-*"))
    content.tree(library, leave_out=("test", "tests", "idlelib", "ensurepip", "lib2to3",
                                     *for_compilers))


ALL: dict[str, Callable[[Content, Any], None]] = {
    each.__name__: each for each in (base, certificates, zones, shell, python)}
