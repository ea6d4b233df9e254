# SPDX-License-Identifier: Apache-2.0
"""Runs commands in the namespaces of a node or of the cluster's host.

The kernel kills a command when this process dies.
"""
import os
import signal
from collections.abc import Sequence
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.testbed import control_socket, syscalls
from paddle_tools.testbed.layout import Layout, node_name
from paddle_tools.testbed.process import environment

_TERMINAL_VARIABLES = ("TERM", "LANG", "COLUMNS", "LINES")


def _environment(layout: Layout) -> dict[str, str]:
    return environment(layout.programs, HOME="/root", KUBECONFIG=str(layout.kubeconfig),
                       CONTAINERD_NAMESPACE="k8s.io",
                       **{name: os.environ[name] for name in _TERMINAL_VARIABLES
                          if name in os.environ})


def start(layout: Layout, number: int, argv: list[str], stdin: int | None = None,
          output: int | None = None) -> int:
    """Starts a command; returns the pid of a child that waits for it. Two forks: only children of
    the process that enters a pid namespace are in it."""
    descriptor = control_socket.send_request(layout, do="enter", node=number)["descriptor"]
    here = os.getcwd()
    child = os.fork()
    if child:
        os.close(descriptor)
        return child
    code = 127
    try:
        syscalls.die_with_parent()
        for source, target in ((stdin, 0), (output, 1), (output, 2)):
            if source is not None:
                os.dup2(source, target)
        syscalls.enter(descriptor)
        code = _second(layout, argv, here)
    except OSError as error:
        os.write(2, f"testbed: {error}\n".encode())
    finally:
        os._exit(code)


def _second(layout: Layout, argv: list[str], here: str) -> int:
    command = os.fork()
    if command == 0:
        try:
            syscalls.die_with_parent()
            os.chdir(here if os.path.isdir(here) else "/")
            os.execvpe(argv[0], argv, _environment(layout))
        except OSError as error:
            os.write(2, f"testbed: {argv[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)
    for number in (signal.SIGINT, signal.SIGQUIT):  # the terminal sends them to the command as well
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(command, signal.SIGTERM))
    return _code(command)


def _code(pid: int) -> int:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def run(layout: Layout, number: int, argv: list[str]) -> int:
    """Runs a command; returns its exit code, which for a signal is 128 plus its number."""
    child = start(layout, number, argv)
    for each in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(each, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    return _code(child)


def load_images(layout: Layout, files: Sequence[str | Path]) -> None:
    """Imports docker archives on all nodes that are on, at the same time. An archive is streamed:
    nodes need not see its file."""
    nodes = control_socket.send_request(layout, do="status")["nodes"]
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
            output = os.pread(children[failed[0]][1], 4000, 0).decode(errors="replace")
            raise ToolError(f"{node_name(failed[0])} could not import {file}:\n{output.strip()}")
        for _, log in children.values():
            os.close(log)
        print(f"{Path(file).name}: on {', '.join(map(node_name, children))}")
