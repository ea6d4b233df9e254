# SPDX-License-Identifier: Apache-2.0
"""Running commands in the namespaces of a node or of the cluster's host. They die with us."""
import os
import signal
from pathlib import Path

from paddle_tools.testbed import control_socket as control
from paddle_tools.testbed import syscalls as kernel
from paddle_tools.testbed.layout import Failure, node_name
from paddle_tools.testbed.process import environment

_FOR_PEOPLE = ("TERM", "LANG", "COLUMNS", "LINES")


def _environment(layout):
    return environment(layout.programs, HOME="/root", KUBECONFIG=str(layout.kubeconfig),
                       CONTAINERD_NAMESPACE="k8s.io",
                       **{name: os.environ[name] for name in _FOR_PEOPLE if name in os.environ})


def start(layout, number, argv, stdin=None, output=None):
    """The pid of a child that waits for the command. Two forks: only children of who enters a pid
    namespace are in it."""
    descriptor = control.ask(layout, do="enter", node=number)["descriptor"]
    here = os.getcwd()
    child = os.fork()
    if child:
        os.close(descriptor)
        return child
    code = 127
    try:
        kernel.die_with_parent()
        for source, target in ((stdin, 0), (output, 1), (output, 2)):
            if source is not None:
                os.dup2(source, target)
        kernel.enter(descriptor)
        code = _second(layout, argv, here)
    except OSError as error:
        os.write(2, f"testbed: {error}\n".encode())
    finally:
        os._exit(code)


def _second(layout, argv, here):
    command = os.fork()
    if command == 0:
        try:
            kernel.die_with_parent()
            os.chdir(here if os.path.isdir(here) else "/")
            os.execvpe(argv[0], argv, _environment(layout))
        except OSError as error:
            os.write(2, f"testbed: {argv[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)
    for number in (signal.SIGINT, signal.SIGQUIT):  # of the terminal: the command has it too
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(command, signal.SIGTERM))
    return _code(command)


def _code(pid):
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def run(layout, number, argv):
    """The command's exit code; a signal counts as 128 and its number, as in a shell."""
    child = start(layout, number, argv)
    for each in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    return _code(child)


def load_images(layout, files):
    """On all nodes that are on, at once; the archive comes as a stream, wherever it lies."""
    nodes = control.ask(layout, do="status")["nodes"]
    ctr = str(Path(layout.programs["containerd"]).parent / "ctr")
    for file in files:
        children = {}
        for number in layout.node_numbers():
            if not nodes[node_name(number)]["on"]:
                print(f"{node_name(number)} is off: it does not get {Path(file).name}")
                continue
            log = os.memfd_create("log")
            with open(file, "rb") as archive:
                argv = [ctr, "-n", "k8s.io", "images", "import", "-"]
                children[number] = start(layout, number, argv, archive.fileno(), log), log
        failed = [number for number, (pid, _) in children.items() if _code(pid) != 0]
        if failed:
            said = os.pread(children[failed[0]][1], 4000, 0).decode(errors="replace")
            raise Failure(f"{node_name(failed[0])} could not import {file}:\n{said.strip()}")
        for _, log in children.values():
            os.close(log)
        print(f"{Path(file).name}: on {', '.join(map(node_name, children))}")
