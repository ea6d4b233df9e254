# SPDX-License-Identifier: Apache-2.0
"""Requests as the API server's audit log has them: who asked what how often."""
import json
from collections import Counter
from pathlib import Path

QUIET = ("leases", "watch")  # what an operator at rest still does


def request(event, agent):
    """(verb, resource, code) of an event of this client, or nothing. A watch counts when it begins,
    everything else when it has ended."""
    if not event.get("userAgent", "").startswith(agent):
        return None
    begins = event["stage"] == "ResponseStarted"
    if begins != (event["verb"] == "watch"):
        return None
    about = event.get("objectRef", {})
    resource = "/".join(filter(None, (about.get("resource", event["requestURI"].split("?")[0]),
                                      about.get("subresource"))))
    return event["verb"], resource, event.get("responseStatus", {}).get("code", 0)


def is_quiet(verb, resource):
    return resource == QUIET[0] or verb == QUIET[1]


class AuditLog:
    """Grows while we look at it; the last line may not be whole yet."""

    def __init__(self, path, agent):
        self._path, self._agent = Path(path), agent

    def end(self):
        return self._path.stat().st_size

    def requests(self, begin, end=None):
        """[(verb, resource, code)] of the lines that begin there, and where the next would."""
        with open(self._path, "rb") as file:
            file.seek(begin)
            text = file.read(-1 if end is None else end - begin)
        whole = text.rfind(b"\n") + 1
        mark = self._agent.encode()
        found = (request(json.loads(line), self._agent)
                 for line in text[:whole].splitlines() if mark in line)
        return [each for each in found if each], begin + whole


def tally(requests):
    """{"create pods": 800, ...}; refused ones apart, with their code."""
    return dict(Counter(f"{verb} {resource}" + (f" ({code})" if code >= 400 else "")
                        for verb, resource, code in requests).most_common())
