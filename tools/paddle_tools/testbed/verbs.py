# SPDX-License-Identifier: Apache-2.0
"""The verbs of tools/testbed."""
import os
import subprocess
import sys
from pathlib import Path

from paddle_tools.testbed import control_socket as control
from paddle_tools.testbed import namespace_exec as inside
from paddle_tools.testbed import supervisor as keeper
from paddle_tools.testbed import up
from paddle_tools.testbed.layout import (
    BASE,
    Failure,
    Layout,
    check_name,
    load,
    node_number,
    wanted_parts,
)
from paddle_tools.testbed.process import tail


class Usage(Exception):
    """The arguments are not of the form in the help."""


def main(argv, text):
    if argv in (["--help"], ["-h"], ["help"]):
        print(text)
        return 0
    try:
        name = "bed"
        if argv[:1] == ["--name"]:
            name, argv = argv[1], argv[2:]
        verb, *rest = argv
        if verb not in VERBS:
            raise Usage
    except (IndexError, ValueError, Usage):
        print(text, file=sys.stderr)
        return 2
    try:
        return VERBS[verb](check_name(name), rest) or 0
    except Usage:
        print(text, file=sys.stderr)
        return 2


def running(name):
    """The layout of a cluster that is there, or was and left its logs."""
    try:
        return load(Layout(name).state)
    except OSError:
        return Layout(name)  # whoever asks it something is told that it is not up


def start(name, args):
    layout, foreground = wanted(name, args)
    return up.up(layout, foreground)


def prepare(name, args):
    layout, _ = wanted(name, args)
    up.prepare(layout)


def wanted(name, args):
    nodes, parts, foreground = 3, {}, False
    while args:
        option, *args = args
        if option == "--foreground":
            foreground = True
        elif option == "--nodes" and args and args[0].isdigit() and int(args[0]) <= 20:
            nodes, args = int(args[0]), args[1:]
        elif option == "--with" and args:
            parts, args = {**parts, **wanted_parts(args[0])}, args[1:]
        else:
            raise Usage
    if nodes == 0 and "kwok" not in parts:
        raise Usage
    return Layout(name, nodes, parts=parts), foreground


def down(name, args):
    none(args)
    found = keeper.end(name)
    print(f"cluster '{name}' is gone" if found else f"there is no cluster '{name}'")


def status(name, args):
    none(args)
    layout = running(name)
    found = control.ask(layout, do="status")
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


def kubeconfig(name, args):
    none(args)
    layout = running(name)
    control.ask(layout, do="status")
    print(layout.kubeconfig)


def logs(name, args):
    layout = running(name)
    files = {path.stem: path for path in sorted(layout.logs.glob("*.log"))}
    if len(args) > 1:
        raise Usage
    if args:
        if args[0] not in files:
            raise Failure(f"there is no log '{args[0]}'; there are: {', '.join(files)}")
        sys.stdout.flush()
        subprocess.run(["cat", files[args[0]]], check=False)
        return
    if not files:
        raise Failure(f"there are no logs of a cluster '{name}'")
    for part, path in files.items():
        print(f"--- {part} ({path})\n{tail(path)}")


def node_verb(verb):
    def act(name, args):
        layout = running(name)
        if len(args) != 1:
            raise Usage
        number = node_number(args[0], layout.nodes)
        print(control.ask(layout, limit=180, do=verb, node=number)["said"])
    return act


def execute(name, args):
    place = "host"
    if args and args[0] != "--":
        place, *args = args
    if len(args) < 2 or args[0] != "--":
        raise Usage
    layout = running(name)
    number = 0 if place == "host" else node_number(place, layout.nodes)
    return inside.run(layout, number, args[1:])


def load_image(name, args):
    if not args:
        raise Usage
    layout = running(name)
    for each in args:
        if not Path(each).is_file():
            raise Failure(f"there is no file {each}")
    inside.load_images(layout, args)


def show_all(_, args):
    none(args)
    for path in sorted(BASE.glob("*/cluster.json")):
        layout = load(path.parent)
        descriptor = keeper.lock(layout.name)
        if descriptor is not None:
            os.close(descriptor)
        state = "up" if descriptor is None else "ended; its logs are left"
        print(f"{layout.name:20} {layout.nodes} nodes  {layout.server:28} {state}")


def none(args):
    if args:
        raise Usage


VERBS = {"up": start, "prepare": prepare, "down": down, "status": status,
         "kubeconfig": kubeconfig, "logs": logs, "exec": execute, "load-image": load_image,
         "list": show_all,
         **{verb: node_verb(verb) for verb in ("node-kill", "node-start", "link-down", "link-up")}}
