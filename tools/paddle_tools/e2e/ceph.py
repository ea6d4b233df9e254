# SPDX-License-Identifier: Apache-2.0
"""Ceph's RADOS gateway, with a monitor and an object store in memory, on the cluster's host.

Debian's packages are unpacked into a directory and run in it: nothing is installed, and no service
starts. The store has no passwords (only the host reaches it); users of the gateway have keys.
"""
import http.client
import json
import os
import subprocess
import uuid
from pathlib import Path

from paddle_tools.e2e import juicefs
from paddle_tools.e2e.buildah import PASSED_VARIABLES, SOURCES
from paddle_tools.e2e.cluster import Cluster, ScenarioFailed, component
from paddle_tools.e2e.daemons import HOST, Daemons
from paddle_tools.s3 import S3Client

COMPONENTS = ("mmdebstrap",)
PACKAGES = ("ceph-mon", "ceph-osd", "ceph-common", "radosgw")
PORT = 7480
# The directory's own /dev and /proc, and the files of this Ceph at /ceph, for one process and its
# children.
ENTER = ('mount --rbind /dev "$0/dev" && mount --bind /proc "$0/proc" && '
         'mount --bind "$1" "$0/ceph" && shift && exec chroot "$0" "$@"')
SETTINGS = """[global]
fsid = {fsid}
mon host = v2:{host}:3300
public addr = {host}
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
ms bind msgr1 = false
run dir = /ceph
log file = /ceph/$name.log
mon data = /ceph/mon
osd data = /ceph/osd
osd objectstore = memstore
memstore device bytes = 1073741824
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
osd crush chooseleaf type = 0
rgw frontends = beast endpoint=0.0.0.0:{port}
"""


class Gateway:
    """Serves when the constructor returns; ends with its daemons."""

    def __init__(self, cluster: Cluster, daemons: Daemons) -> None:
        self._daemons = daemons
        self._root, self._files = daemons.directory / "root", daemons.directory / "ceph"
        self._unpack()
        fsid = str(uuid.uuid4())
        (self._files / "osd").mkdir(parents=True)
        (self._files / "ceph.conf").write_text(SETTINGS.format(fsid=fsid, host=HOST, port=PORT))
        self._call("monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v2:{HOST}:3300]",
                   "/ceph/monmap")
        self._call("ceph-mon", "--mkfs", "-i", "a", "--monmap", "/ceph/monmap")
        self._start("ceph-mon", "-i", "a")
        self._call("ceph", "osd", "create")
        self._call("ceph-osd", "-i", "0", "--mkfs")
        self._start("ceph-osd", "-i", "0")
        # Ceph makes the keys, so that they are on no command line.
        made = json.loads(self._call("radosgw-admin", "user", "create", "--uid", "samples",
                                     "--display-name", "samples"))
        self.keys = made["keys"][0]["access_key"], made["keys"][0]["secret_key"]
        self._start("radosgw", "-n", "client.admin")
        self._outside = juicefs.s3_address(cluster)[0]
        daemons.wait("the gateway's answer", self._answers)

    def put(self, bucket: str, files: dict[str, bytes]) -> None:
        """Puts objects, given as {key: bytes}, into a new bucket."""
        s3 = S3Client(self._outside, PORT, *self.keys)
        s3.make_bucket(bucket)
        for key, data in files.items():
            s3.put(bucket, key, data)

    def _unpack(self) -> None:
        sources = [each for each in SOURCES if Path(each).is_file()][:1]
        done = subprocess.run(
            [component("mmdebstrap"), "--mode=root", "--variant=extract",
             f"--include={','.join(PACKAGES)}", "bookworm", self._root, *sources],
            env={key: os.environ[key] for key in PASSED_VARIABLES if key in os.environ},
            check=False,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise ScenarioFailed("Debian's packages of Ceph could not be unpacked; check that this "
                                 f"machine reaches its Debian mirror\n{done.stderr[-2000:]}")
        for name in ("dev", "proc", "ceph"):
            (self._root / name).mkdir(exist_ok=True)

    def _inside(self, program: str, *args: object) -> list[object]:
        more = ["-c", "/ceph/ceph.conf"] if program != "monmaptool" else []
        return ["unshare", "-m", "sh", "-c", ENTER, self._root, self._files, program, *more, *args]

    def _call(self, *argv: str) -> str:
        return self._daemons.call(*self._inside(*argv))

    def _start(self, program: str, *args: object) -> None:
        self._daemons.start(program, *self._inside(program, "-f", *args))

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self._outside, PORT, timeout=10)
        connection.request("GET", "/")
        return connection.getresponse().status == 200
