# SPDX-License-Identifier: Apache-2.0
"""How verbs talk to a cluster that runs: one JSON line there, one back, over a socket in its state
directory. An answer may carry the descriptor of a process whose namespaces shall be entered."""
import contextlib
import json
import os
import socket

from paddle_tools.testbed.layout import Failure


def ask(layout, limit=60, **request):
    """The answer as a dict; 'descriptor' in it is ours to close."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(limit)
        try:
            link.connect(str(layout.control))
        except OSError:
            raise Failure(f"cluster '{layout.name}' is not up; start it: "
                          f"tools/testbed --name {layout.name} up") from None
        link.sendall(json.dumps(request).encode() + b"\n")
        data, descriptors, _, _ = socket.recv_fds(link, 65536, 1)
        while data and not data.endswith(b"\n"):
            data += link.recv(65536)
    if not data:
        raise Failure(f"cluster '{layout.name}' ended")
    answer = json.loads(data)
    if "failure" in answer:
        raise Failure(answer["failure"])
    if descriptors:
        answer["descriptor"] = descriptors[0]
    return answer


def listen(layout):
    layout.control.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(layout.control))
    server.listen(16)
    return server


def answer(server, handle):
    """One request. `handle` gives a dict, and perhaps a descriptor that is closed here."""
    link, _ = server.accept()
    with link, contextlib.suppress(OSError, ValueError):
        link.settimeout(5)
        data = b""
        while not data.endswith(b"\n"):
            more = link.recv(4096)
            if not more:
                return
            data += more
        descriptor = None
        try:
            reply, descriptor = handle(json.loads(data))
        except Failure as failure:
            reply = {"failure": str(failure)}
        text = json.dumps(reply).encode() + b"\n"
        if descriptor is None:
            link.sendall(text)
        else:
            socket.send_fds(link, [text], [descriptor])
            os.close(descriptor)
