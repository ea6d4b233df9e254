# SPDX-License-Identifier: Apache-2.0
"""The optional parts of a cluster: servers on its host's address, and add-ons."""
import secrets
from typing import TYPE_CHECKING

from paddle_tools.testbed import configs, kwok, mounts, network_policies, volcano
from paddle_tools.testbed.layout import HOST
from paddle_tools.testbed.process import accepts_connections, environment, write

if TYPE_CHECKING:
    from paddle_tools.testbed.host import Host

REDIS_PORT, S3_PORT, ETCD_PORT = 6379, 9000, 2479


def redis(host: "Host", _: str) -> None:
    host.start("redis", "--bind", "0.0.0.0", "--port", str(REDIS_PORT), "--protected-mode", "no",
               "--save", "", "--appendonly", "no", "--dir", str(host.layout.state))
    host.wait("Redis", lambda: accepts_connections(HOST, REDIS_PORT))


def s3(host: "Host", _: str) -> None:
    """The state directory has the keys (s3.env) and the server's access log."""
    layout = host.layout
    data = layout.state / "s3"
    data.mkdir()
    keys = {"ROOT_ACCESS_KEY": "testbed", "ROOT_SECRET_KEY": secrets.token_hex(16)}
    write(layout.state / "s3.env", f"AWS_ACCESS_KEY_ID={keys['ROOT_ACCESS_KEY']}\n"
          f"AWS_SECRET_ACCESS_KEY={keys['ROOT_SECRET_KEY']}\n"
          f"AWS_REGION=us-east-1\nS3_ENDPOINT=http://{HOST}:{S3_PORT}\n"
          f"S3_ENDPOINT_OUTSIDE=http://{layout.outside_address}:{S3_PORT}\n", 0o600)
    host.start("s3", "--port", f":{S3_PORT}", "--quiet", "--keep-alive", "--access-log",
               str(layout.state / "s3-access.log"), "posix", str(data),
               program="versitygw", env={**environment(), **keys})
    host.wait("the S3 server", lambda: accepts_connections(HOST, S3_PORT))


def etcd(host: "Host", _: str) -> None:
    """For elastic jobs: tests may break it without breaking the cluster."""
    data = host.layout.state / "etcd-elastic"
    data.mkdir()
    mounts.mount_tmpfs(data, "mode=700,size=256m")
    host.start("etcd-elastic", *configs.etcd(data, ETCD_PORT, ETCD_PORT + 1), program="etcd")
    host.wait("the elastic jobs' etcd", lambda: accepts_connections(HOST, ETCD_PORT))


START = {"redis": redis, "s3": s3, "etcd": etcd, "volcano": volcano.start, "kwok": kwok.start,
         "policies": network_policies.start}
# Components beyond those that every cluster needs.
PROGRAMS = {"redis": ["redis"], "s3": ["versitygw"], "volcano": volcano.PROGRAMS,
            "kwok": kwok.PROGRAMS, "policies": network_policies.PROGRAMS}
