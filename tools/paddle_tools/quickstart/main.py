# SPDX-License-Identifier: Apache-2.0
"""From nothing to a model trained on cached samples, on this machine.

    make quickstart          as root, or as a user who may use sudo
    tools/quickstart --built with the programs that are in build/bin already

1. installs what is missing: Debian packages, then side by side the C++ programs, an S3 server and
   PaddlePaddle; the second time there is nothing to do;
2. in process, mount and network namespaces of its own starts an S3 server behind a 50 Mbit/s link
   and a cluster on one machine (`paddlectl local`), puts images into a bucket, caches them as a
   SampleSet, and trains a small network on them with a PaddleJob of two workers;
3. reports how fast each epoch was and where every byte came from, and removes everything but what
   was installed. Because of the namespaces nothing is left, however it ends.

What it applies is in examples/quickstart.
"""
import contextlib
import fcntl
import json
import os
import shutil
import signal
import string
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle_tools import sandbox
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP
from paddle_tools.quickstart.report import Report, parse_results
from paddle_tools.s3 import S3Client
from paddle_tools.sandbox import SANDBOX
from paddle_tools.shaped_s3 import ShapedS3Server

LAUNCHER = TOP / "tools/quickstart"

EXAMPLE = TOP / "examples/quickstart"
PROGRAMS = TOP / "build/bin"
MBIT = 50
BUCKET = "samples"


def log(text: str = "") -> None:
    print(text, flush=True)


@contextlib.contextmanager
def step(name: str, hint: str) -> Iterator[None]:
    """Adds the name of the step and what to do to the text of a failure."""
    try:
        yield
    except (ToolError, OSError) as why:
        raise ToolError(f"{name}: {why}\nWhat to do: {hint}") from None


# --- 1. install -----------------------------------------------------------------------------------

class Task(threading.Thread):
    """One of the installations that run side by side; its output is in a file."""

    def __init__(self, name: str, argv: Sequence[str | Path], log: Path, hint: str) -> None:
        super().__init__(daemon=True)
        self.what, self.argv, self.log, self.hint = name, argv, log, hint
        self.code: int | None = None
        self.seconds, self._begin = 0.0, time.monotonic()
        with open(log, "wb") as out:
            self.child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *map(str, argv)], cwd=TOP, stdout=out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.start()

    def run(self) -> None:
        self.code = self.child.wait()
        self.seconds = time.monotonic() - self._begin

    def stop(self) -> None:
        if self.child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGTERM)
        self.child.wait()

    def last_line(self) -> str:
        lines = self.log.read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def reason(self) -> str:
        """The last line of its output with an error, or the last line."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines()]
        found = [line for line in lines if "error" in line.lower()]
        return (found[-1] if found else self.last_line())[:300]

    def progress(self) -> str:
        line = self.last_line()
        return line.split("]")[0] + "]" if line.startswith("[") else "working"


def wait_for_all(tasks: list[Task]) -> None:
    """Waits for all tasks and logs their progress; the first failure stops the others."""
    left, logged = list(tasks), time.monotonic()
    try:
        while left:
            time.sleep(0.2)
            for task in [task for task in left if task.code is not None]:
                left.remove(task)
                if task.code != 0:
                    raise ToolError(f"{task.what} could not be installed: {task.reason()} (all of "
                                    f"it is in {task.log})\nWhat to do: {task.hint}; then run it "
                                    "again")
                if task.seconds > 2:
                    log(f"    {task.what}: done in {task.seconds:.0f} s")
            if time.monotonic() - logged > 15 and left:
                logged = time.monotonic()
                log("    " + ", ".join(f"{task.what}: {task.progress()}" for task in left))
    finally:
        for task in tasks:
            task.stop()


def install(logs: Path, built: bool) -> None:
    log("[1/6] Installing what is missing (packages, programs, S3 server, PaddlePaddle)")
    network = "check that this machine reaches its package mirrors (apt, PyPI, Go modules)"
    done = subprocess.run([TOP / "tools/bootstrap", "--quickstart"], cwd=TOP, text=True,
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no reason was given"])[-1]
        raise ToolError(f"Debian packages could not be installed: {last}\n"
                        f"What to do: {network}; then run it again")
    components = TOP / "tools/components"
    build = ("cmake --preset quickstart && "
             "exec cmake --build build/release --target quickstart_programs")
    tasks = [] if built else [
        Task("C++ programs", ["bash", "-c", build], logs / "build.log",
             "read that file; a compiler that was killed means too little memory (2 GB will do)")]
    for title, name in (("S3 server", "versitygw"), ("PaddlePaddle", "paddlepaddle")):
        tasks.append(Task(title, [components, "install", name], logs / f"{name}.log", network))
    wait_for_all(tasks)


def component(name: str) -> str:
    return sandbox.run([TOP / "tools/components", "path", name]).strip()


# --- 2. inside ------------------------------------------------------------------------------------

def paddlectl(*words: str | Path, shown: bool = False) -> str:
    """The output of a verb; with `shown` it goes to the terminal instead."""
    argv: list[str | Path] = [PROGRAMS / "paddlectl", "local", *words]
    if not shown:
        return sandbox.run(argv)
    if subprocess.run(argv, check=False).returncode != 0:
        raise ToolError(f"'paddlectl local {words[0]}' failed; its reason is above")
    return ""


def apply(name: str, **values: str | Path) -> None:
    """Applies a file of the example, with its variables replaced."""
    text = string.Template((EXAMPLE / name).read_text()).substitute(values)
    file = SANDBOX / name
    file.touch(0o600)
    file.write_text(text)
    paddlectl("apply", "-f", file)


def upload_images(server: ShapedS3Server, packages: str) -> tuple[int, int]:
    """Makes the images and puts them into the bucket; returns (number of images, bytes)."""
    images = SANDBOX / "images"
    sandbox.run(["/usr/bin/python3", EXAMPLE / "make_images.py", images],
                env={**sandbox.environment(), "PYTHONPATH": packages})
    client = S3Client(server.address, server.port, server.access_key, server.secret_key)
    client.make_bucket(BUCKET)
    count = size = 0
    for file in sorted(images.rglob("*.png")):
        data = file.read_bytes()
        client.put(BUCKET, f"images/{file.relative_to(images)}", data)
        count, size = count + 1, size + len(data)
    shutil.rmtree(images)
    return count, size


def train(packages: str) -> list[dict[str, Any]]:
    """Trains with a PaddleJob; returns what its workers reported."""
    apply("paddlejob.yaml", EXAMPLE=EXAMPLE, PACKAGES=packages)
    try:
        paddlectl("wait", "paddlejob/quickstart", "--for=phase=Completed", "--timeout=300s",
                  shown=True)
    except ToolError as why:
        tail = "\n".join(paddlectl("logs", "paddlejob/quickstart").splitlines()[-20:])
        raise ToolError(f"{why}\n{tail}") from None
    return parse_results(paddlectl("logs", "paddlejob/quickstart"))


def run_in_sandbox(packages: str, versitygw: str) -> None:
    sandbox.set_up_inside()
    os.environ["PADDLE_LOCAL_DIR"] = str(SANDBOX / "local")
    again = "run it again; if it stays, report it with the lines above"
    log(f"[2/6] Starting an S3 server behind a link of {MBIT} Mbit/s and filling a bucket")
    with step("S3 server", again):
        server = ShapedS3Server(versitygw, MBIT)
        count, size = upload_images(server, packages)
        log(f"    {count} images, {size / 1e6:.1f} MB")
    log("[3/6] Starting a cluster on this machine: paddlectl local up")
    with step("local cluster", again):
        paddlectl("up", shown=True)
    log("[4/6] Caching the images: SampleSet images")
    before = server.bytes_over_link()
    with step("SampleSet", again):
        apply("sampleset.yaml", ACCESS_KEY=server.access_key, SECRET_KEY=server.secret_key,
              ENDPOINT=server.endpoint, CACHE=SANDBOX / "cache")
        paddlectl("wait", "sampleset/images", "--for=phase=Ready", "--timeout=120s", shown=True)
        paddlectl("get", "samplesets", shown=True)
    log("[5/6] Training on them: PaddleJob quickstart, 2 workers, 5 epochs")
    with step("PaddleJob", again):
        results = train(packages)
        paddlectl("get", "paddlejobs,samplesets,pods", shown=True)
    status = json.loads(paddlectl("status", "-o", "json"))
    report = Report(results, status["sampleSets"][0]["reads"],
                    server.bytes_over_link() - before, size)
    log(f"[6/6] What happened\n{report.text(MBIT)}")
    paddlectl("down", "--delete")
    if report.inconsistency():
        raise ToolError(f"the figures do not add up: {report.inconsistency()}\nWhat to do: {again}")


# --- the whole ------------------------------------------------------------------------------------

def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("PADDLE_OPERATOR_CACHE") or Path(base) / "paddle-operator")


@contextlib.contextmanager
def single_run() -> Iterator[None]:
    """A lock: two quickstarts would share the build and the memory."""
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / "quickstart-run.lock", "a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ToolError(f"another quickstart is running (process {lock.read().strip()}); wait "
                            "for its end, or stop it with Ctrl-C where it runs") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def prepare(built: bool) -> None:
    with single_run():
        if reason := sandbox.fuse_problem():
            raise ToolError(reason)
        logs = cache() / "quickstart-logs"
        logs.mkdir(exist_ok=True)
        install(logs, built)


def run(begin: float) -> int:
    with single_run():
        if reason := sandbox.unsupported_reason():
            raise ToolError(reason)
        with sandbox.scratch_directory(cache() / "quickstart") as directory:
            code = sandbox.run_inside(directory, [LAUNCHER, "--inside",
                                                  component("paddlepaddle"),
                                                  component("versitygw")])
    if code == 0:
        log(f"Done in {time.time() - begin:.0f} s. Everything it started is gone; what it "
            "installed stays, so the next time is faster.\nNext: sudo build/bin/paddlectl local "
            "up, and your own YAML; see README.md.")
    return code


def main(argv: list[str]) -> int:
    sandbox.interrupt_on_signals()
    try:
        if argv[:1] == ["--inside"]:
            run_in_sandbox(argv[1], argv[2])
            return 0
        if argv[:1] == ["--run"]:
            return run(float(argv[1]))
        if argv not in ([], ["--built"]):
            log(__doc__)
            return 0 if argv == ["--help"] else 2
        begin = time.time()
        if os.geteuid() != 0 and not shutil.which("sudo"):
            raise ToolError("namespaces and mounts need root: run it as root, or install sudo")
        prepare(built=argv == ["--built"])
        if os.geteuid() == 0:
            return run(begin)
        os.execvp("sudo", ["sudo", f"PADDLE_OPERATOR_CACHE={cache()}", str(LAUNCHER), "--run",
                           str(begin)])
    except ToolError as why:
        print(f"quickstart: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("quickstart: interrupted; nothing it started is left", file=sys.stderr)
        return 130
