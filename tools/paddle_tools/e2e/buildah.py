# SPDX-License-Identifier: Apache-2.0
"""Builds from Containerfiles, as users with Docker do, without a daemon or a registry.

Everything is in one directory, and removed with it. Containers are a chroot on the machine's
network, so that they need no more rights than a cluster of tools/testbed.
"""
import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from paddle_tools.e2e.cluster import TOP, ScenarioFailed, component
from paddle_tools.json_types import Json

FileFacts = tuple[int, int, tuple[int, int], str]  # kind, mode, owner, target or sum

BASE = "docker.io/library/debian:12"
# Where buildah records the layers that it has seen; the directory cannot be changed.
LAYER_RECORDS = Path("/var/lib/containers")
# Where this machine gets Debian packages from; the first that exists is used.
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
# ccache takes a compilation as the same one only in the same language.
LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES")
PASSED_VARIABLES = ("PATH", "HOME", "http_proxy", "https_proxy", "no_proxy",
                    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Buildah:
    """Images and containers in a directory of their own."""

    def __init__(self, top: str | Path) -> None:
        self._top = Path(top)
        self._policy = self._top / "policy.json"
        self._policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        (self._top / "registries.conf").write_text("")
        (self._top / "tmp").mkdir()
        self._program = component("buildah")
        self._found = LAYER_RECORDS.exists()

    def __call__(self, *args: object, limit: float = 300) -> str:
        """Runs buildah; returns its output."""
        where = ["--root", self._top / "storage", "--runroot", self._top / "run",
                 "--storage-driver", "overlay"]
        return self._run([self._program, *where, *args], limit)

    def _run(self, argv: Sequence[object], limit: float) -> str:
        env = {key: os.environ[key] for key in PASSED_VARIABLES if key in os.environ}
        env.update(TMPDIR=str(self._top / "tmp"), BUILDAH_ISOLATION="chroot",
                   CONTAINERS_REGISTRIES_CONF=str(self._top / "registries.conf"))
        done = subprocess.run([str(each) for each in argv], check=False, text=True, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=limit,
                              cwd=TOP)
        if done.returncode != 0:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
            raise ScenarioFailed(f"{' '.join(map(str, argv[-4:]))} ended with exit code "
                                 f"{done.returncode}\n{last}")
        return done.stdout

    def make_base(self) -> None:
        """Makes the image debian:12 from packages, under the name that a registry would give it."""
        packed = self._top / "debian.tar"
        sources = [each for each in SOURCES if Path(each).is_file()][:1]
        self._run([component("mmdebstrap"), "--mode=root", "--variant=minbase", "bookworm", packed,
                   *sources], 900)
        box = self("from", "scratch").strip()
        self("add", "--quiet", box, packed, "/")
        packed.unlink()
        settings = {key: os.environ[key] for key in LANGUAGE if key in os.environ}
        settings.update(CCACHE_BASEDIR="/source", CCACHE_NOHASHDIR="1")
        for key, value in settings.items():
            self("config", "--env", f"{key}={value}", box)
        self.commit(box, BASE)

    def commit(self, box: str, name: str) -> None:
        self("commit", "--quiet", "--signature-policy", self._policy, "--rm", box, name)

    def build(self, containerfile: str, name: str, *args: object) -> None:
        """Builds an image from the top of the repository."""
        self("bud", "--signature-policy", self._policy, "--network", "host", "--layers",
             "--pull-never", "--build-arg", f"BASE={BASE}", *caches(), *args,
             "--file", containerfile, "--tag", name, TOP, limit=3600)

    def run(self, box: str, *argv: object) -> str:
        """Runs a command in a container; returns its output."""
        return self("run", "--network", "host", *caches(), box, "--", *argv)

    def start(self, image: str) -> str:
        """Makes a container of a local image; returns its name."""
        return self("from", "--signature-policy", self._policy, "--pull-never", image).strip()

    def pull(self, archive: Path) -> str:
        """Imports a docker archive; returns the image's digest."""
        return self("pull", "--quiet", "--signature-policy", self._policy,
                    f"docker-archive:{archive}").strip()

    def settings(self, image: str) -> Json:
        return json.loads(self("inspect", "--type", "image", image))["OCIv1"]["config"]

    @contextlib.contextmanager
    def mounted(self, box: str) -> Iterator[Path]:
        """The files of a container, as a directory."""
        try:
            yield Path(self("mount", box).strip())
        finally:
            self("umount", box)

    def end(self) -> None:
        """Removes all containers, mounts and records."""
        self("rm", "--all")
        for path in ("storage/overlay", "storage"):
            subprocess.run(["umount", "-q", self._top / path], check=False, capture_output=True)
        if not self._found:
            shutil.rmtree(LAYER_RECORDS, ignore_errors=True)


def caches() -> tuple[str, ...]:
    """The caches of compilations and components of this machine, as volumes of a container."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    ccache = Path(os.environ.get("CCACHE_DIR") or base / "ccache")
    ours = Path(os.environ.get("PADDLE_OPERATOR_CACHE") or base / "paddle-operator")
    ccache.mkdir(parents=True, exist_ok=True)
    return ("--volume", f"{ccache}:/root/.cache/ccache",
            "--volume", f"{ours}:/root/.cache/paddle-operator:ro")


def sum_of(data: bytes) -> str:
    """The SHA-256 of a file's content."""
    return hashlib.sha256(data).hexdigest()


def files_below(top: str | Path) -> dict[str, FileFacts]:
    """{path: (kind, mode, owner, target or sum)} of all files in a directory."""
    found = {}
    for directory, inner, files in os.walk(top):
        for name in inner + files:
            path = Path(directory) / name
            about = path.lstat()
            link = stat.S_ISLNK(about.st_mode)
            what = os.readlink(path) if link else ""
            if stat.S_ISREG(about.st_mode):
                what = sum_of(path.read_bytes())
            found[f"/{path.relative_to(top)}"] = (
                stat.S_IFMT(about.st_mode), 0o777 if link else stat.S_IMODE(about.st_mode),
                (about.st_uid, about.st_gid), what)
    return found
