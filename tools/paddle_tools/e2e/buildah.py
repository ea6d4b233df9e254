# SPDX-License-Identifier: Apache-2.0
"""Building from Containerfiles as users do who have Docker, without a daemon or a registry.

Everything is in one directory and gone with it. Containers are a chroot on the machine's network:
no more rights are needed than a cluster of the bed needs.
"""
import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

from paddle_tools.e2e.cluster import TOP, Failed, component

BASE = "docker.io/library/debian:12"
# Where it notes the layers that it has seen, whatever directory it is given.
NOTES = Path("/var/lib/containers")
# Where this machine has its own Debian from; the first that is there.
SOURCES = ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list")
# The head of the note: sizes of name and content, kind, name.
BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
# ccache takes a compilation as the same one only in the same language.
LANGUAGE = ("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES")
PASSED_ON = ("PATH", "HOME", "http_proxy", "https_proxy", "no_proxy",
             "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class Buildah:
    """Images and containers in a directory of their own."""

    def __init__(self, top):
        self._top = Path(top)
        self._policy = self._top / "policy.json"
        self._policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        (self._top / "registries.conf").write_text("")
        (self._top / "tmp").mkdir()
        self._program = component("buildah")
        self._found = NOTES.exists()

    def __call__(self, *args, limit=300):
        """What it prints."""
        where = ["--root", self._top / "storage", "--runroot", self._top / "run",
                 "--storage-driver", "overlay"]
        return self._run([self._program, *where, *args], limit)

    def _run(self, argv, limit):
        env = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
        env.update(TMPDIR=str(self._top / "tmp"), BUILDAH_ISOLATION="chroot",
                   CONTAINERS_REGISTRIES_CONF=str(self._top / "registries.conf"))
        done = subprocess.run([str(each) for each in argv], check=False, text=True, env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=limit,
                              cwd=TOP)
        if done.returncode != 0:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
            raise Failed(f"{' '.join(str(each) for each in argv[-4:])} ended with exit code "
                         f"{done.returncode}\n{last}")
        return done.stdout

    def make_base(self):
        """debian:12 of packages alone, where a registry would have it."""
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

    def commit(self, box, name):
        self("commit", "--quiet", "--signature-policy", self._policy, "--rm", box, name)

    def build(self, containerfile, name, *args):
        """From the top of the repository."""
        self("bud", "--signature-policy", self._policy, "--network", "host", "--layers",
             "--pull-never", *caches(), *args, "--file", containerfile, "--tag", name, TOP,
             limit=3600)

    def run(self, box, *argv):
        """What a command prints in a container."""
        return self("run", "--network", "host", *caches(), box, "--", *argv)

    def start(self, image):
        """A container of an image that is here; its name."""
        return self("from", "--signature-policy", self._policy, "--pull-never", image).strip()

    def pull(self, archive):
        """Takes a docker archive; the image's digest."""
        return self("pull", "--quiet", "--signature-policy", self._policy,
                    f"docker-archive:{archive}").strip()

    def settings(self, image):
        return json.loads(self("inspect", "--type", "image", image))["OCIv1"]["config"]

    @contextlib.contextmanager
    def mounted(self, box):
        """Its files, as a directory."""
        try:
            yield Path(self("mount", box).strip())
        finally:
            self("umount", box)

    def end(self):
        """Nothing of it stays mounted, or elsewhere."""
        self("rm", "--all")
        for path in ("storage/overlay", "storage"):
            subprocess.run(["umount", "-q", self._top / path], check=False, capture_output=True)
        if not self._found:
            shutil.rmtree(NOTES, ignore_errors=True)


def caches():
    """Compilations and components of this machine, as volumes of a container."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    ccache = Path(os.environ.get("CCACHE_DIR") or base / "ccache")
    ours = Path(os.environ.get("PADDLE_OPERATOR_CACHE") or base / "paddle-operator")
    ccache.mkdir(parents=True, exist_ok=True)
    return ("--volume", f"{ccache}:/root/.cache/ccache",
            "--volume", f"{ours}:/root/.cache/paddle-operator:ro")


def sum_of(data):
    """Of a file's content; of a program's without its build id: that sums up what a debugger reads
    as well, where the directory is named in which it was compiled."""
    at = data.find(BUILD_ID, 0, 4096) if data[:4] == b"\x7fELF" else -1
    if at >= 0:
        begin = at + len(BUILD_ID)
        data = data[:begin] + bytes(20) + data[begin + 20:]
    return hashlib.sha256(data).hexdigest()


def files_below(top):
    """{path: (kind, mode, owner, target or sum)} of everything in a directory."""
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
