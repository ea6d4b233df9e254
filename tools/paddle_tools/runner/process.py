# SPDX-License-Identifier: Apache-2.0
"""Child processes of the test runner: a clean environment, a hard time limit, no survivors."""
import os
import shlex
import signal
import subprocess
import time

# What a test may see of the caller's shell. Certificate overrides, proxies, KUBECONFIG and the
# like stay outside: they would change what a test starts.
PASSED_ON = ("PATH", "HOME", "USER", "TMPDIR", "XDG_CACHE_HOME", "CI")


def test_environment(**more):
    env = {name: value for name, value in os.environ.items()
           if name in PASSED_ON or name.startswith("PADDLE_")}
    env.update(LC_ALL="C.UTF-8", **more)
    return env


_running = set()  # of run(), by any thread


def end_all():
    """Kills whatever run() has going, with what it started: the runner itself is to end now."""
    for child in list(_running):
        _kill_group(child)


def _kill_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(argv, log, limit, env=None, cwd=None):
    """Runs with output in the file `log`, in a session of its own. Returns (exit code, seconds);
    the code is negative for a signal and None when the limit passed and the group was killed."""
    start = time.monotonic()
    with open(log, "wb") as out:
        # If the runner itself is killed, the kernel kills the program.
        child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, argv)], env=env,
                                 cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        _running.add(child)
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill_group(child)
            child.wait()
            _running.discard(child)
    return code, time.monotonic() - start


def build_step(argv, log, env, cwd):
    """Its exit code. Whatever ends us ends it with SIGTERM: ninja then stops its compilers, which
    are in groups of their own."""
    with open(log, "wb") as out:
        child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", *argv], env=env, cwd=cwd,
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        try:
            return child.wait()
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait()


def how_it_ended(code, limit):
    if code is None:
        return f"killed after {limit} s"
    if code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"exit code {code}"


def tail(path, lines=40):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "\n".join(file.read().splitlines()[-lines:])
    except OSError:
        return ""


def command_line(argv, env=None):
    settings = [f"{name}={shlex.quote(value)}" for name, value in (env or {}).items()]
    return " ".join(settings + [shlex.quote(str(each)) for each in argv])
