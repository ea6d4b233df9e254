# SPDX-License-Identifier: Apache-2.0
"""Requests from verbs to a running cluster: one line of JSON each way, over a socket in its state
directory. An answer may carry the descriptor of a process whose namespaces are to be entered."""
import contextlib
import json
import os
import socket
from collections.abc import Callable

from paddle_tools.errors import ToolError
from paddle_tools.json_types import Json
from paddle_tools.testbed.layout import Layout

# Takes a request; returns the answer and a descriptor to send with it, or None.
Handler = Callable[[Json], tuple[Json, int | None]]


def send_request(layout: Layout, limit: float = 60, **request: object) -> Json:
    """Sends a request; returns the answer. The caller closes its 'descriptor', if there is one."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(limit)
        try:
            link.connect(str(layout.control_socket))
        except OSError:
            raise ToolError(f"cluster '{layout.name}' is not up; start it: "
                            f"tools/testbed --name {layout.name} up") from None
        link.sendall(json.dumps(request).encode() + b"\n")
        data, descriptors, _, _ = socket.recv_fds(link, 65536, 1)
        while data and not data.endswith(b"\n"):
            data += link.recv(65536)
    if not data:
        raise ToolError(f"cluster '{layout.name}' ended")
    answer: Json = json.loads(data)
    if "failure" in answer:
        raise ToolError(answer["failure"])
    if descriptors:
        answer["descriptor"] = descriptors[0]
    return answer


def listen(layout: Layout) -> socket.socket:
    layout.control_socket.unlink(missing_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(layout.control_socket))
    server.listen(16)
    return server


def answer(server: socket.socket, handle: Handler) -> None:
    """Serves one request. `handle` returns the answer and a descriptor, which is closed here, or
    None."""
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
        except ToolError as failure:
            reply = {"failure": str(failure)}
        text = json.dumps(reply).encode() + b"\n"
        if descriptor is None:
            link.sendall(text)
        else:
            socket.send_fds(link, [text], [descriptor])
            os.close(descriptor)
