# SPDX-License-Identifier: Apache-2.0
"""Counts the requests of one client in the API server's audit log."""
import json
from collections import Counter
from pathlib import Path

from paddle_tools.json_types import Json

Request = tuple[str, str, int]  # verb, resource, status code

QUIET = ("leases", "watch")  # requests of an idle operator


def request(event: Json, agent: str) -> Request | None:
    """(verb, resource, code) of an event of this client, else None. A watch counts when it begins,
    every other request when it has ended."""
    if not event.get("userAgent", "").startswith(agent):
        return None
    begins = event["stage"] == "ResponseStarted"
    if begins != (event["verb"] == "watch"):
        return None
    about = event.get("objectRef", {})
    resource = "/".join(filter(None, (about.get("resource", event["requestURI"].split("?")[0]),
                                      about.get("subresource"))))
    return event["verb"], resource, event.get("responseStatus", {}).get("code", 0)


def is_quiet(verb: str, resource: str) -> bool:
    return resource == QUIET[0] or verb == QUIET[1]


class AuditLog:
    """Reads a log that is still written: its last line may be incomplete."""

    def __init__(self, path: str | Path, agent: str) -> None:
        self._path, self._agent = Path(path), agent

    def end(self) -> int:
        return self._path.stat().st_size

    def requests(self, begin: int, end: int | None = None) -> tuple[list[Request], int]:
        """The requests in the lines from offset `begin` on, and the offset after them."""
        with open(self._path, "rb") as file:
            file.seek(begin)
            text = file.read(-1 if end is None else end - begin)
        whole = text.rfind(b"\n") + 1
        mark = self._agent.encode()
        found = (request(json.loads(line), self._agent)
                 for line in text[:whole].splitlines() if mark in line)
        return [each for each in found if each], begin + whole


def count_requests(requests: list[Request]) -> dict[str, int]:
    """{"create pods": 800, ...}; refused requests have keys of their own, with their code."""
    return dict(Counter(f"{verb} {resource}" + (f" ({code})" if code >= 400 else "")
                        for verb, resource, code in requests).most_common())
