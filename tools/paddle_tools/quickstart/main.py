# SPDX-License-Identifier: Apache-2.0
"""From nothing to a model trained on cached samples, on this machine.

    make quickstart          as root, or as a user who may use sudo
    tools/quickstart --built with the programs that are in build/bin already

1. installs what is missing: Debian packages, then side by side the C++ programs, an S3 server and
   PaddlePaddle; the second time there is nothing to do;
2. in process, mount and network namespaces of its own starts an S3 server behind a 50 Mbit/s link
   and a cluster on one machine (`paddlectl local`), puts images into a bucket, caches them as a
   SampleSet, and trains a small network on them with a PaddleJob of two workers;
3. says how fast each epoch was and where every byte came from, and removes everything but what was
   installed. Because of the namespaces nothing is left, however it ends.

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
from pathlib import Path

from paddle_tools import s3
from paddle_tools import sandbox as place
from paddle_tools import shaped_s3 as shaped
from paddle_tools.paths import TOP
from paddle_tools.quickstart import report as accounts
from paddle_tools.sandbox import INSIDE, Failure

LAUNCHER = TOP / "tools/quickstart"

EXAMPLE = TOP / "examples/quickstart"
PROGRAMS = TOP / "build/bin"
MBIT = 50
BUCKET = "samples"


def say(text=""):
    print(text, flush=True)


@contextlib.contextmanager
def step(name, hint):
    """A failure names the step and what to do."""
    try:
        yield
    except (Failure, s3.Failure, OSError) as why:
        raise Failure(f"{name}: {why}\nWhat to do: {hint}") from None


# --- 1. install -----------------------------------------------------------------------------------

class Task(threading.Thread):
    """One of the things that are installed side by side; its output is in a file."""

    def __init__(self, name, argv, log, hint):
        super().__init__(daemon=True)
        self.what, self.argv, self.log, self.hint = name, argv, log, hint
        self.code, self.seconds, self._begin = None, 0.0, time.monotonic()
        with open(log, "wb") as out:
            self.child = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *map(str, argv)], cwd=TOP, stdout=out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        self.start()

    def run(self):
        self.code = self.child.wait()
        self.seconds = time.monotonic() - self._begin

    def end(self):
        if self.child.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGTERM)
        self.child.wait()

    def last_line(self):
        lines = self.log.read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def reason(self):
        """The line of its output that says most."""
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines()]
        found = [line for line in lines if "error" in line.lower()]
        return (found[-1] if found else self.last_line())[:300]

    def progress(self):
        line = self.last_line()
        return line.split("]")[0] + "]" if line.startswith("[") else "working"


def together(tasks):
    """Waits for all of them, telling how far they are; the first failure ends the others."""
    left, told = list(tasks), time.monotonic()
    try:
        while left:
            time.sleep(0.2)
            for task in [task for task in left if task.code is not None]:
                left.remove(task)
                if task.code != 0:
                    raise Failure(f"{task.what} could not be installed: {task.reason()} (all of it is "
                                  f"in {task.log})\nWhat to do: {task.hint}; then run it again")
                if task.seconds > 2:
                    say(f"    {task.what}: done in {task.seconds:.0f} s")
            if time.monotonic() - told > 15 and left:
                told = time.monotonic()
                say("    " + ", ".join(f"{task.what}: {task.progress()}" for task in left))
    finally:
        for task in tasks:
            task.end()


def install(logs, built):
    say("[1/6] Installing what is missing (packages, programs, S3 server, PaddlePaddle)")
    network = "check that this machine reaches its package mirrors (apt, PyPI, Go modules)"
    done = subprocess.run([TOP / "tools/bootstrap", "--quickstart"], cwd=TOP, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        last = (done.stdout.strip().splitlines() or ["no reason was given"])[-1]
        raise Failure(f"Debian packages could not be installed: {last}\n"
                      f"What to do: {network}; then run it again")
    components = TOP / "tools/components"
    build = "cmake --preset quickstart && exec cmake --build build/release --target quickstart_programs"
    tasks = [] if built else [
        Task("C++ programs", ["bash", "-c", build], logs / "build.log",
             "read that file; a compiler that was killed means too little memory (2 GB will do)")]
    for title, name in (("S3 server", "versitygw"), ("PaddlePaddle", "paddlepaddle")):
        tasks.append(Task(title, [components, "install", name], logs / f"{name}.log", network))
    together(tasks)


def component(name):
    return place.run([TOP / "tools/components", "path", name]).strip()


# --- 2. inside ------------------------------------------------------------------------------------

def paddlectl(*words, shown=False):
    argv = [PROGRAMS / "paddlectl", "local", *words]
    if not shown:
        return place.run(argv)
    if subprocess.run(argv, check=False).returncode != 0:
        raise Failure(f"'paddlectl local {words[0]}' says why above")
    return None


def apply(name, **values):
    text = string.Template((EXAMPLE / name).read_text()).substitute(values)
    file = INSIDE / name
    file.touch(0o600)
    file.write_text(text)
    paddlectl("apply", "-f", file)


def fill(server, packages):
    """Makes the images and puts them into the bucket; how many, and how many bytes."""
    images = INSIDE / "images"
    place.run(["/usr/bin/python3", EXAMPLE / "make_images.py", images],
              env={**place.environment(), "PYTHONPATH": packages})
    client = s3.S3(server.address, server.port, server.access_key, server.secret_key)
    client.make_bucket(BUCKET)
    count = size = 0
    for file in sorted(images.rglob("*.png")):
        data = file.read_bytes()
        client.put(BUCKET, f"images/{file.relative_to(images)}", data)
        count, size = count + 1, size + len(data)
    shutil.rmtree(images)
    return count, size


def train(packages):
    apply("paddlejob.yaml", EXAMPLE=EXAMPLE, PACKAGES=packages)
    try:
        paddlectl("wait", "paddlejob/quickstart", "--for=phase=Completed", "--timeout=300s",
                  shown=True)
    except Failure as why:
        tail = "\n".join(paddlectl("logs", "paddlejob/quickstart").splitlines()[-20:])
        raise Failure(f"{why}\n{tail}") from None
    return accounts.results(paddlectl("logs", "paddlejob/quickstart"))


def inside(packages, versitygw):
    place.arrive()
    os.environ["PADDLE_LOCAL_DIR"] = str(INSIDE / "local")
    again = "run it again; if it stays, report it with the lines above"
    say(f"[2/6] Starting an S3 server behind a link of {MBIT} Mbit/s and filling a bucket")
    with step("S3 server", again):
        server = shaped.S3Server(versitygw, MBIT)
        count, size = fill(server, packages)
        say(f"    {count} images, {size / 1e6:.1f} MB")
    say("[3/6] Starting a cluster on this machine: paddlectl local up")
    with step("local cluster", again):
        paddlectl("up", shown=True)
    say("[4/6] Caching the images: SampleSet images")
    before = server.sent()
    with step("SampleSet", again):
        apply("sampleset.yaml", ACCESS_KEY=server.access_key, SECRET_KEY=server.secret_key,
              ENDPOINT=server.endpoint, CACHE=INSIDE / "cache")
        paddlectl("wait", "sampleset/images", "--for=phase=Ready", "--timeout=120s", shown=True)
        paddlectl("get", "samplesets", shown=True)
    say("[5/6] Training on them: PaddleJob quickstart, 2 workers, 5 epochs")
    with step("PaddleJob", again):
        results = train(packages)
        paddlectl("get", "paddlejobs,samplesets,pods", shown=True)
    status = json.loads(paddlectl("status", "-o", "json"))
    report = accounts.Report(results, status["sampleSets"][0]["reads"], server.sent() - before, size)
    say(f"[6/6] What happened\n{report.text(MBIT)}")
    paddlectl("down", "--delete")
    if report.trouble():
        raise Failure(f"the figures do not add up: {report.trouble()}\nWhat to do: {again}")


# --- the whole ------------------------------------------------------------------------------------

def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("PADDLE_OPERATOR_CACHE") or Path(base) / "paddle-operator")


@contextlib.contextmanager
def alone():
    """One quickstart at a time: they would share the build and the memory."""
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / "quickstart-run.lock", "a+", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise Failure(f"another quickstart is running (process {lock.read().strip()}); wait for "
                          "its end, or stop it with Ctrl-C where it runs") from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def prepare(built):
    with alone():
        if reason := place.why_not_fuse():
            raise Failure(reason)
        logs = cache() / "quickstart-logs"
        logs.mkdir(exist_ok=True)
        install(logs, built)


def run(begin):
    with alone():
        if reason := place.why_not():
            raise Failure(reason)
        with place.scratch(cache() / "quickstart") as directory:
            code = place.enter(directory, [LAUNCHER, "--inside",
                                           component("paddlepaddle"), component("versitygw")])
    if code == 0:
        say(f"Done in {time.time() - begin:.0f} s. Everything it started is gone; what it installed "
            "stays, so the next time is faster.\nNext: sudo build/bin/paddlectl local up, and your "
            "own YAML; see README.md.")
    return code


def main(argv):
    place.end_in_order()
    try:
        if argv[:1] == ["--inside"]:
            inside(argv[1], argv[2])
            return 0
        if argv[:1] == ["--run"]:
            return run(float(argv[1]))
        if argv not in ([], ["--built"]):
            say(__doc__)
            return 0 if argv == ["--help"] else 2
        begin = time.time()
        if os.geteuid() != 0 and not shutil.which("sudo"):
            raise Failure("namespaces and mounts need root: run it as root, or install sudo")
        prepare(built=argv == ["--built"])
        if os.geteuid() == 0:
            return run(begin)
        os.execvp("sudo", ["sudo", f"PADDLE_OPERATOR_CACHE={cache()}", LAUNCHER, "--run", str(begin)])
    except (Failure, s3.Failure) as why:
        print(f"quickstart: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("quickstart: interrupted; nothing it started is left", file=sys.stderr)
        return 130
