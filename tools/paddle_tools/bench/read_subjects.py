# SPDX-License-Identifier: Apache-2.0
"""Who is read: native files, samplefs, JuiceFS. Each has a directory with the same files.

A subject is a value with `root` (where its files are), `daemon` (whose processor time counts) and
`caches` (directories on the disk that it serves from). stop() takes its mount away.
"""
import json
import os
import subprocess
import time
import urllib.request

from paddle_tools.sandbox import INSIDE, Daemon, Failure, environment, run

TUNED = ["--open-cache", "7200", "--attr-cache", "7200", "--entry-cache", "7200",
         "--dir-entry-cache", "7200", "--prefetch", "1", "--buffer-size", "1024",
         "--cache-size", "307200"]


class Native:
    daemon = None

    def __init__(self, root):
        self.root = root
        self.caches = [root]

    def fill(self):
        pass

    def stop(self):
        pass


def fresh(path):
    path.mkdir(parents=True)
    return path


class SampleFs:
    """The runtime as a process of its own, told what to do as the operator tells it, and mounted as
    the node mounts it. The index is there when the constructor returns; the cache is empty."""
    ports = iter(range(7716, 7999))

    def __init__(self, name, programs, link, far, source):
        home = fresh(INSIDE / name)
        self.root, self.caches = fresh(home / "mount"), [fresh(home / "cache")]
        session, secret = fresh(home / "session"), fresh(home / "secret")
        os.chmod(session, 0o700)
        for key, value in {"access-key": link.server.access_key,
                           "secret-key": link.server.secret_key,
                           "endpoint": link.endpoint(far), "region": "us-east-1"}.items():
            (secret / key).write_text(value)
        (home / "token").write_text("bench-token")
        self._address = f"127.0.0.1:{next(self.ports)}"
        self.daemon = Daemon(name, [
            programs / "paddle-cache", "serve", "--engine=samplefs", f"--set=bench/{name}",
            f"--source={source}", f"--source-secret={secret}", f"--token-file={home / 'token'}",
            f"--cache={self.caches[0]}", "--cache-mib=0", f"--session={session}",
            f"--listen={self._address}"])
        self.daemon.wait_until(lambda: self.call("GET", "/v1/status"))
        self.finish(self.begin("sync"))
        self._mount = Daemon(f"{name}-mount", [programs / "mount_samples", session, self.root],
                             stdin=subprocess.PIPE)
        self._mount.wait_for_line("mounted")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://{self._address}{path}", method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": "Bearer bench-token", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            text = reply.read()
            return json.loads(text) if path.startswith("/v1/") else text.decode()

    def begin(self, kind):
        name = f"{kind}-{time.monotonic_ns()}"
        self.call("PUT", f"/v1/jobs/{name}", {"kind": kind})
        return name

    def finish(self, name, limit=300):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            report = self.call("GET", f"/v1/jobs/{name}")
            if report["state"] == "succeeded":
                return report
            if report["state"] in ("failed", "cancelled"):
                raise Failure(f"{name} {report['state']}: {report.get('error')}")
            time.sleep(0.02)
        raise Failure(f"{name} was not done within {limit} s:\n{self.daemon.tail()}")

    def fill(self):
        self.finish(self.begin("warmup"))

    def fill_alongside(self):
        self.begin("warmup")

    def counters(self):
        return self.call("GET", "/v1/status")["reads"]

    def stop(self):
        self._mount.stop()
        self.daemon.stop()


class JuiceVolume:
    """A formatted volume with files in it."""

    def __init__(self, program, database, link, far):
        self.program = program
        self.meta = f"redis://127.0.0.1:6379/{database}"
        bucket = f"juicefs-{database}"
        link.client().make_bucket(bucket)
        run([program, "format", "--storage", "s3", "--bucket", f"{link.endpoint(far)}/{bucket}",
             "--trash-days", "0", self.meta, f"bench{database}"],
            env={**environment(), "ACCESS_KEY": link.server.access_key,
                 "SECRET_KEY": link.server.secret_key})

    def bring_in(self, source):
        """Through a mount with a cache of its own, which is thrown away."""
        writer = JuiceFs(f"juicefs-writer-{self.meta[-1]}", self, [])
        run(["cp", "-r", f"{source}/.", writer.root])
        writer.stop()


class JuiceFs:
    ports = iter(range(9567, 9999))

    def __init__(self, name, volume, options):
        home = fresh(INSIDE / name)
        self.root, self.caches = fresh(home / "mount"), [fresh(home / "cache")]
        self._program = volume.program
        before = os.stat(self.root).st_dev
        self.daemon = Daemon(name, [
            volume.program, "mount", "--no-usage-report", "--cache-dir", self.caches[0],
            "--metrics", f"127.0.0.1:{next(self.ports)}", *options, volume.meta, self.root])
        self.daemon.wait_until(lambda: os.stat(self.root).st_dev != before)

    def fill(self):
        run([self._program, "warmup", self.root])

    def fill_alongside(self):
        run([self._program, "warmup", "--background", self.root])

    def stop(self):
        run([self._program, "umount", self.root])
        self.daemon.wait_end()


def start_redis(program):
    home = fresh(INSIDE / "redis")
    daemon = Daemon("redis", [program, "--bind", "127.0.0.1", "--port", "6379", "--dir", home,
                              "--save", "", "--appendonly", "no"])
    daemon.wait_until(lambda: "Ready to accept connections" in daemon.log.read_text())
