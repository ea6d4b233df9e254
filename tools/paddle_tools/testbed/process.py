# SPDX-License-Identifier: Apache-2.0
"""Running other programs: to their end, or as a part of the cluster with a log of its own."""
import os
import signal
import socket
import subprocess
from pathlib import Path

from paddle_tools.testbed.layout import Failure

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def environment(programs=None, **more):
    """Nothing of the user's cloud, proxies or shell; the components are found by name."""
    homes = sorted({str(Path(each).parent) for each in (programs or {}).values()})
    return {"PATH": ":".join([*homes, SYSTEM_PATH]), "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
            "KUBECACHEDIR": "/dev/null", **more}  # kubectl would make its home to cache there


def run(*argv, stdin=None, env=None, fine=(0,)):
    """Runs to its end; its output, or a Failure that shows it."""
    done = subprocess.run([str(each) for each in argv], text=True, check=False, input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=env or environment())
    if done.returncode not in fine:
        shown = "\n".join(done.stdout.splitlines()[-20:])
        raise Failure(f"'{Path(argv[0]).name} {' '.join(map(str, argv[1:6]))}' failed:\n{shown}")
    return done.stdout


def ip(words):
    return run("ip", *words.split())


def write(path, text, mode=0o644):
    """A file with its final mode from the beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, mode)
    with open(descriptor, "w", encoding="utf-8") as out:
        out.write(text)


def answers(address, port):
    """True when a server is there, else OSError."""
    socket.create_connection((address, port), 1).close()
    return True


def tail(path, lines=25):
    try:
        return "\n".join(Path(path).read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def how_it_ended(code):
    return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class Part:
    """A program that runs as long as the cluster."""

    def __init__(self, name, argv, logs, env=None):
        self.name, self.argv, self.env = name, [str(each) for each in argv], env or environment()
        self.log = Path(logs) / f"{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=out, env=self.env, cwd="/")
        return self

    @property
    def trouble(self):
        """What is wrong with it, or nothing."""
        code = self.process.poll()
        return None if code is None else how_it_ended(code)
