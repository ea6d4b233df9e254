# SPDX-License-Identifier: Apache-2.0
"""The stores that deploy/examples names, on the cluster's host: the bed resolves their names to it.

Both are behind TLS at port 443, so one at a time. An authority of the scenario's own vouches for
them; on the bed our JuiceFS images are replaced by variants that trust it (tools/images.toml).
"""
import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.e2e import certificates
from paddle_tools.e2e.cluster import TOOLS, TOP, Cluster, ScenarioFailed, component, expect
from paddle_tools.e2e.daemons import HOST, Daemons
from paddle_tools.e2e.juicefs import s3_address
from paddle_tools.images import definitions
from paddle_tools.s3 import S3Client

AUTHORITY = TOP / "build/e2e"
PUBLIC_BUCKET, BOS = "paddleflow-public", "paddleflow-public.hkg.bcebos.com"
S3, KEY = "s3.example", "change-me"  # as sampleset_juicefs.yaml has them
PORT, PLAIN_PORT = 443, 9080
VARIANTS = {name: definitions.load(TOP)[name]["reference"]
            for name in ("paddle-cache-juicefs", "juicefs-mount")}


@contextlib.contextmanager
def trusted(cluster: Cluster) -> Iterator[None]:
    """Certificates of both stores in build/e2e, and images on all nodes that trust them. The usual
    images come back at the end, not after a failure."""
    AUTHORITY.mkdir(parents=True, exist_ok=True)
    certificates.make(AUTHORITY, f"DNS:{BOS}", "DNS:hkg.bcebos.com", f"DNS:{S3}", f"DNS:*.{S3}")
    shutil.copy(AUTHORITY / "ca.crt", AUTHORITY / "authorities.crt")
    names = [f"{name}-e2e" for name in VARIANTS]
    done = subprocess.run([TOOLS / "images", "build", *names], check=False, text=True,
                          capture_output=True)
    expect(done.returncode == 0, f"tools/images build: {done.stderr[-2000:]}")
    cluster.load(*names)
    for name, image in VARIANTS.items():
        cluster.tag_image(f"{name}-e2e:v1", image)
    yield
    cluster.load(*VARIANTS)


def start_bos(daemons: Daemons, objects: dict[str, bytes]) -> None:
    """Serves the public bucket of the tutorial, without keys."""
    place = daemons.directory
    for name in ("server.crt", "server.key"):
        shutil.copy(AUTHORITY / name, place / name)
    for key, data in objects.items():
        file = place / "objects" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    log = place / "bos.out"
    daemons.start("bos", sys.executable, Path(__file__).with_name("bos_server.py"), PORT,
                  PUBLIC_BUCKET, place)
    daemons.wait("BOS", lambda: "serves" in log.read_text())


def start_s3(cluster: Cluster, daemons: Daemons, bucket: str, objects: dict[str, bytes],
             empty: str) -> None:
    """Serves a bucket with the keys of the example, puts objects into it without TLS, and makes an
    empty bucket beside it."""
    data = daemons.directory / "s3"
    data.mkdir()
    keys = ("--access", KEY, "--secret", KEY)
    tls = ("--cert", AUTHORITY / "server.crt", "--key", AUTHORITY / "server.key")
    for name, port, more in (("s3", PORT, tls), ("s3-plain", PLAIN_PORT, ())):
        daemons.start(name, component("versitygw"), "--port", f"{HOST}:{port}" if more else
                      f":{port}", *keys, *more, "--quiet", "posix", data)
    daemons.wait("S3", lambda: put_all(cluster, empty, {}) and put_all(cluster, bucket, objects))


def put_all(cluster: Cluster, bucket: str, objects: dict[str, bytes]) -> bool:
    client = S3Client(s3_address(cluster)[0], PLAIN_PORT, KEY, KEY)
    client.make_bucket(bucket)
    for key, data in objects.items():
        client.put(bucket, key, data)
    return True


def pictures(count: int, side: int = 64) -> list[bytes]:
    """Small pictures, made with the packages of PaddlePaddle: this system's Python has none."""
    code = ("import io, sys, numpy as np\nfrom PIL import Image\ndraw = np.random.default_rng(3)\n"
            f"for _ in range({count}):\n"
            f"    pixels = draw.integers(0, 256, ({side}, {side}, 3), dtype='uint8')\n"
            "    out = io.BytesIO()\n    Image.fromarray(pixels).save(out, 'PNG')\n"
            "    data = out.getvalue()\n"
            "    sys.stdout.buffer.write(len(data).to_bytes(4, 'big') + data)\n")
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True,
                          env={"PYTHONPATH": component("paddlepaddle"), "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        raise ScenarioFailed(f"no pictures: {done.stderr.decode()[-1000:]}")
    found, at = [], 0
    while at < len(done.stdout):
        end = at + 4 + int.from_bytes(done.stdout[at:at + 4], "big")
        found.append(done.stdout[at + 4:end])
        at = end
    return found
