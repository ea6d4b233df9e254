# SPDX-License-Identifier: Apache-2.0
"""The subjects of the read benchmark: native files, samplefs, JuiceFS, s3fs, rclone. Each has the
same files.

A subject has `root` (the directory of its files), `daemon` (whose processor time counts) and
`caches` (directories on the disk that it serves from). stop() unmounts it.
"""
import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

from paddle_tools.bench.network_link import Link
from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.sandbox import SANDBOX, Daemon, environment, run

TUNED = ["--open-cache", "7200", "--attr-cache", "7200", "--entry-cache", "7200",
         "--dir-entry-cache", "7200", "--prefetch", "1", "--buffer-size", "1024",
         "--cache-size", "307200"]


class Subject:
    """A directory of files that needs neither filling nor unmounting; the others override that."""

    def __init__(self, root: Path, caches: list[Path], daemon: Daemon | None) -> None:
        self.root, self.caches, self.daemon = root, caches, daemon

    def fill(self) -> None:
        """Fills the cache."""

    def fill_alongside(self) -> None:
        """Begins to fill the cache, and returns."""

    def stop(self) -> None:
        """Unmounts it."""


class Native(Subject):
    def __init__(self, root: Path) -> None:
        super().__init__(root, [root], None)


def new_directory(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


class SampleFs(Subject):
    """The runtime as a process, controlled through its API as the operator does, and mounted as the
    node mounts it. When the constructor returns, the index exists and the cache is empty."""
    ports = iter(range(7716, 7999))

    def __init__(self, name: str, programs: Path, link: Link, far: bool, source: str,
                 cache_mib: int = 0) -> None:
        home = new_directory(SANDBOX / name)
        root, cache = new_directory(home / "mount"), new_directory(home / "cache")
        session, secret = new_directory(home / "session"), new_directory(home / "secret")
        os.chmod(session, 0o700)
        for key, value in {"access-key": link.server.access_key,
                           "secret-key": link.server.secret_key,
                           "endpoint": link.endpoint(far), "region": "us-east-1"}.items():
            (secret / key).write_text(value)
        (home / "token").write_text("bench-token")
        self._address = f"127.0.0.1:{next(self.ports)}"
        daemon = Daemon(name, [
            programs / "paddle-cache", "serve", "--engine=samplefs", f"--set=bench/{name}",
            f"--source={source}", f"--source-secret={secret}", f"--token-file={home / 'token'}",
            f"--cache={cache}", f"--cache-mib={cache_mib}", f"--session={session}",
            f"--listen={self._address}"])
        super().__init__(root, [cache], daemon)
        self._runtime = daemon
        daemon.wait_until(lambda: self.call("GET", "/v1/status"))
        self.finish(self.begin("sync"))
        self._mount = Daemon(f"{name}-mount", [programs / "mount_samples", session, self.root],
                             stdin=subprocess.PIPE)
        self._mount.wait_for_line("mounted")

    def call(self, method: str, path: str, body: Json | None = None) -> Any:
        request = urllib.request.Request(
            f"http://{self._address}{path}", method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Authorization": "Bearer bench-token", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as reply:
            text = reply.read()
            return json.loads(text) if path.startswith("/v1/") else text.decode()

    def begin(self, kind: str) -> str:
        name = f"{kind}-{time.monotonic_ns()}"
        self.call("PUT", f"/v1/jobs/{name}", {"kind": kind})
        return name

    def finish(self, name: str, limit: float = 300) -> Json:
        end = time.monotonic() + limit
        while time.monotonic() < end:
            report = self.call("GET", f"/v1/jobs/{name}")
            if report["state"] == "succeeded":
                return report
            if report["state"] in ("failed", "cancelled"):
                raise ToolError(f"{name} {report['state']}: {report.get('error')}")
            time.sleep(0.02)
        raise ToolError(f"{name} was not done within {limit} s:\n{self._runtime.tail()}")

    def fill(self) -> None:
        self.finish(self.begin("warmup"))

    def fill_alongside(self) -> None:
        self.begin("warmup")

    def counters(self) -> Json:
        return self.call("GET", "/v1/status")["reads"]

    def stop(self) -> None:
        self._mount.stop()
        self._runtime.stop()


class JuiceVolume:
    """A formatted volume with files in it."""

    def __init__(self, program: Path, database: int, link: Link, far: bool) -> None:
        self.program = program
        self.meta = f"redis://127.0.0.1:6379/{database}"
        bucket = f"juicefs-{database}"
        link.client().make_bucket(bucket)
        run([program, "format", "--storage", "s3", "--bucket", f"{link.endpoint(far)}/{bucket}",
             "--trash-days", "0", self.meta, f"bench{database}"],
            env={**environment(), "ACCESS_KEY": link.server.access_key,
                 "SECRET_KEY": link.server.secret_key})

    def bring_in(self, source: Path) -> None:
        """Copies files into the volume, through a mount whose cache is not used afterwards."""
        writer = JuiceFs(f"juicefs-writer-{self.meta[-1]}", self, [])
        run(["cp", "-r", f"{source}/.", writer.root])
        writer.stop()


class JuiceFs(Subject):
    ports = iter(range(9567, 9999))

    def __init__(self, name: str, volume: JuiceVolume, options: list[str]) -> None:
        home = new_directory(SANDBOX / name)
        root, cache = new_directory(home / "mount"), new_directory(home / "cache")
        self._program = volume.program
        before = os.stat(root).st_dev
        daemon = Daemon(name, [
            volume.program, "mount", "--no-usage-report", "--cache-dir", cache,
            "--metrics", f"127.0.0.1:{next(self.ports)}", *options, volume.meta, root])
        super().__init__(root, [cache], daemon)
        self._client = daemon
        daemon.wait_until(lambda: os.stat(root).st_dev != before)

    def fill(self) -> None:
        run([self._program, "warmup", self.root])

    def fill_alongside(self) -> None:
        run([self._program, "warmup", "--background", self.root])

    def stop(self) -> None:
        run([self._program, "umount", self.root])
        self._client.wait_end()


class S3Fs(Subject):
    """s3fs-fuse with a disk cache and what its documents advise for speed."""

    def __init__(self, name: str, program: Path, link: Link, far: bool, bucket: str,
                 folder: str) -> None:
        home = new_directory(SANDBOX / name)
        root, cache = new_directory(home / "mount"), new_directory(home / "cache")
        password = home / "password"
        password.touch(mode=0o600)
        password.write_text(f"{link.server.access_key}:{link.server.secret_key}")
        before = os.stat(root).st_dev
        daemon = Daemon(name, [
            program, f"{bucket}:/{folder}", root, "-f", "-o", f"passwd_file={password}",
            "-o", f"url={link.endpoint(far)}", "-o", "use_path_request_style",
            "-o", f"use_cache={cache}", "-o", "kernel_cache", "-o", "max_stat_cache_size=200000",
            "-o", "multireq_max=20", "-o", "parallel_count=20", "-o", "ro"], env=environment())
        super().__init__(root, [cache], daemon)
        self._client = daemon
        daemon.wait_until(lambda: os.stat(root).st_dev != before)

    def stop(self) -> None:
        run(["umount", self.root])
        self._client.wait_end()


class Rclone(Subject):
    """rclone mount with its full disk cache."""

    def __init__(self, name: str, program: Path, fusermount: Path, link: Link, far: bool,
                 bucket: str, folder: str) -> None:
        home = new_directory(SANDBOX / name)
        root, cache = new_directory(home / "mount"), new_directory(home / "cache")
        helpers = new_directory(home / "bin")
        (helpers / "fusermount").symlink_to(fusermount)
        settings = environment()
        settings["PATH"] = f"{helpers}:{settings['PATH']}"
        settings.update({"RCLONE_CONFIG_S3_TYPE": "s3", "RCLONE_CONFIG_S3_PROVIDER": "Other",
                         "RCLONE_CONFIG_S3_ENDPOINT": link.endpoint(far),
                         "RCLONE_CONFIG_S3_ACCESS_KEY_ID": link.server.access_key,
                         "RCLONE_CONFIG_S3_SECRET_ACCESS_KEY": link.server.secret_key})
        before = os.stat(root).st_dev
        daemon = Daemon(name, [
            program, "mount", f"s3:{bucket}/{folder}", root, "--read-only", "--config", "/dev/null",
            "--vfs-cache-mode", "full", "--cache-dir", cache, "--dir-cache-time", "24h",
            "--attr-timeout", "1h", "--no-modtime"], env=settings)
        super().__init__(root, [cache], daemon)
        daemon.wait_until(lambda: os.stat(root).st_dev != before)
        self._client = daemon

    def stop(self) -> None:
        run(["umount", self.root])
        self._client.wait_end()


class CurlDownload(Subject):
    """`curl --parallel` that downloads the objects of a set to the disk: what a warm-up costs at
    least."""

    def __init__(self, name: str, link: Link, bucket: str, folder: str, names: list[str]) -> None:
        home = new_directory(SANDBOX / name)
        super().__init__(home, [home], None)
        lines = ['aws-sigv4 = "aws:amz:us-east-1:s3"', "create-dirs", "silent", "fail",
                 'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"',
                 f'user = "{link.server.access_key}:{link.server.secret_key}"']
        for each in names:
            lines += [f'url = "{link.endpoint(False)}/{bucket}/{folder}/{each}"',
                      f'output = "{home}/data/{each}"']
        self._files = len(names)
        self._config = home / "config"
        self._config.touch(mode=0o600)
        self._config.write_text("\n".join(lines) + "\n")

    def download(self, size: int) -> Json:
        before, begin = os.times(), time.monotonic()
        run(["curl", "--parallel", "--parallel-max", "20", "--config", self._config],
            env=environment())
        seconds, after = time.monotonic() - begin, os.times()
        return {"files": self._files, "bytes": size, "seconds": seconds,
                "cpu_seconds": after.children_user - before.children_user
                + after.children_system - before.children_system}


def write_to_disk(size: int) -> float:
    """Seconds that the disk of the caches takes for as many bytes."""
    path = SANDBOX / "disk-speed"
    begin = time.monotonic()
    run(["dd", "if=/dev/zero", f"of={path}", "bs=4M", f"count={-(-size // (4 << 20))}",
         "oflag=direct", "conv=fsync"])
    seconds = time.monotonic() - begin
    path.unlink()
    return seconds


def start_redis(program: Path) -> None:
    home = new_directory(SANDBOX / "redis")
    daemon = Daemon("redis", [program, "--bind", "127.0.0.1", "--port", "6379", "--dir", home,
                              "--save", "", "--appendonly", "no"])
    daemon.wait_until(lambda: "Ready to accept connections" in daemon.log.read_text())
