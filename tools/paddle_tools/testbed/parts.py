# SPDX-License-Identifier: Apache-2.0
"""The optional parts of a cluster, on its host's address."""
import secrets

from paddle_tools.testbed import configs, kwok, mounts, volcano
from paddle_tools.testbed import network_policies as policies
from paddle_tools.testbed.layout import HOST
from paddle_tools.testbed.process import answers, environment, write

REDIS_PORT, S3_PORT, ETCD_PORT = 6379, 9000, 2479


def redis(host, _):
    host.start("redis", "--bind", "0.0.0.0", "--port", str(REDIS_PORT), "--protected-mode", "no",
               "--save", "", "--appendonly", "no", "--dir", str(host.layout.state))
    host.wait("Redis", lambda: answers(HOST, REDIS_PORT))


def s3(host, _):
    """Whoever needs the keys reads them in the state directory, and who has asked for what."""
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
               program="versitygw", env=environment(**keys))
    host.wait("the S3 server", lambda: answers(HOST, S3_PORT))


def etcd(host, _):
    """For elastic jobs: one that tests may break without breaking the cluster."""
    data = host.layout.state / "etcd-elastic"
    data.mkdir()
    mounts.tmpfs(data, "mode=700,size=256m")
    host.start("etcd-elastic", *configs.etcd(data, ETCD_PORT, ETCD_PORT + 1), program="etcd")
    host.wait("the elastic jobs' etcd", lambda: answers(HOST, ETCD_PORT))


START = {"redis": redis, "s3": s3, "etcd": etcd, "volcano": volcano.start, "kwok": kwok.start,
         "policies": policies.start}
# Components beyond those of every cluster.
PROGRAMS = {"redis": ["redis"], "s3": ["versitygw"], "volcano": volcano.PROGRAMS,
            "kwok": kwok.PROGRAMS, "policies": policies.PROGRAMS}
