# SPDX-License-Identifier: Apache-2.0
"""The verbs of tools/testbed."""
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.testbed import control_socket, namespace_exec, supervisor, up
from paddle_tools.testbed.layout import (
    BASE,
    KUBELET,
    Layout,
    check_kubelet_directory,
    check_name,
    load,
    node_number,
    parse_parts,
)
from paddle_tools.testbed.process import tail

# Takes the name of a cluster and the arguments; returns an exit code, or None for 0.
Verb = Callable[[str, list[str]], int | None]


class UsageError(Exception):
    """The arguments are not of the form in the help."""


def main(argv: list[str], text: str) -> int:
    if argv in (["--help"], ["-h"], ["help"]):
        print(text)
        return 0
    try:
        name = "bed"
        if argv[:1] == ["--name"]:
            name, argv = argv[1], argv[2:]
        verb, *rest = argv
        if verb not in VERBS:
            raise UsageError
    except (IndexError, ValueError, UsageError):
        print(text, file=sys.stderr)
        return 2
    try:
        return VERBS[verb](check_name(name), rest) or 0
    except UsageError:
        print(text, file=sys.stderr)
        return 2


def layout_of(name: str) -> Layout:
    """The layout of a cluster that is up, or was and left its logs."""
    try:
        return load(Layout(name).state)
    except OSError:
        return Layout(name)  # a request to it fails: it is not up


def start(name: str, args: list[str]) -> int:
    layout, foreground = parse_up_arguments(name, args)
    return up.up(layout, foreground)


def prepare(name: str, args: list[str]) -> None:
    layout, _ = parse_up_arguments(name, args)
    up.prepare(layout)


def parse_up_arguments(name: str, args: list[str]) -> tuple[Layout, bool]:
    parts: dict[str, str] = {}
    nodes, foreground, kubelet = 3, False, KUBELET
    while args:
        option, *args = args
        if option == "--foreground":
            foreground = True
        elif option == "--nodes" and args and args[0].isdigit() and int(args[0]) <= 20:
            nodes, args = int(args[0]), args[1:]
        elif option == "--with" and args:
            parts, args = {**parts, **parse_parts(args[0])}, args[1:]
        elif option == "--kubelet-dir" and args:
            kubelet, args = check_kubelet_directory(args[0]), args[1:]
        else:
            raise UsageError
    if nodes == 0 and "kwok" not in parts:
        raise UsageError
    return Layout(name, nodes, parts=parts, kubelet=kubelet), foreground


def down(name: str, args: list[str]) -> None:
    expect_no_arguments(args)
    found = supervisor.stop_cluster(name)
    print(f"cluster '{name}' is gone" if found else f"there is no cluster '{name}'")


def status(name: str, args: list[str]) -> None:
    expect_no_arguments(args)
    layout = layout_of(name)
    found = control_socket.send_request(layout, do="status")
    print(f"cluster '{name}' is up: {layout.server}, KUBECONFIG={layout.kubeconfig}")
    print(f"memory of all its processes: {found['memory'] / 1e6:.0f} MB")
    for node, facts in found["nodes"].items():
        state = "off" if not facts["on"] else "Ready" if facts["ready"] else "not Ready"
        print(f"  {node:24} {state}")
        for part, ended in facts["notes"]:
            print(f"    {part} {ended}, and was started again")
    for part, state in found["parts"].items():
        print(f"  {part:24} {state}")
    if "s3" in layout.parts:
        print(f"the S3 server's address and keys: {layout.state / 's3.env'}")


def kubeconfig(name: str, args: list[str]) -> None:
    expect_no_arguments(args)
    layout = layout_of(name)
    control_socket.send_request(layout, do="status")
    print(layout.kubeconfig)


def logs(name: str, args: list[str]) -> None:
    layout = layout_of(name)
    files = {path.stem: path for path in sorted(layout.logs.glob("*.log"))}
    if len(args) > 1:
        raise UsageError
    if args:
        if args[0] not in files:
            raise ToolError(f"there is no log '{args[0]}'; there are: {', '.join(files)}")
        sys.stdout.flush()
        subprocess.run(["cat", files[args[0]]], check=False)
        return
    if not files:
        raise ToolError(f"there are no logs of a cluster '{name}'")
    for part, path in files.items():
        print(f"--- {part} ({path})\n{tail(path)}")


def node_verb(verb: str) -> Verb:
    def act(name: str, args: list[str]) -> None:
        layout = layout_of(name)
        if len(args) != 1:
            raise UsageError
        number = node_number(args[0], layout.nodes)
        print(control_socket.send_request(layout, limit=180, do=verb, node=number)["message"])
    return act


def execute(name: str, args: list[str]) -> int:
    place = "host"
    if args and args[0] != "--":
        place, *args = args
    if len(args) < 2 or args[0] != "--":
        raise UsageError
    layout = layout_of(name)
    number = 0 if place == "host" else node_number(place, layout.nodes)
    return namespace_exec.run(layout, number, args[1:])


def load_image(name: str, args: list[str]) -> None:
    if not args:
        raise UsageError
    layout = layout_of(name)
    for each in args:
        if not Path(each).is_file():
            raise ToolError(f"there is no file {each}")
    namespace_exec.load_images(layout, args)


def show_all(_: str, args: list[str]) -> None:
    expect_no_arguments(args)
    for path in sorted(BASE.glob("*/cluster.json")):
        layout = load(path.parent)
        descriptor = supervisor.lock(layout.name)
        if descriptor is not None:
            os.close(descriptor)
        state = "up" if descriptor is None else "ended; its logs are left"
        print(f"{layout.name:20} {layout.nodes} nodes  {layout.server:28} {state}")


def expect_no_arguments(args: list[str]) -> None:
    if args:
        raise UsageError


VERBS: dict[str, Verb] = {"up": start, "prepare": prepare, "down": down, "status": status,
         "kubeconfig": kubeconfig, "logs": logs, "exec": execute, "load-image": load_image,
         "list": show_all,
         **{verb: node_verb(verb) for verb in ("node-kill", "node-start", "link-down", "link-up")}}
