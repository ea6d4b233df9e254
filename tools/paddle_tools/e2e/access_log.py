# SPDX-License-Identifier: Apache-2.0
"""The requests to the cluster's S3 server, from its access log."""
import collections
import re
from pathlib import Path

from paddle_tools.e2e.cluster import Cluster

GET = re.compile(r" s3_GetObject (?P<key>\S+) /(?P<bucket>[^/ ]+)/\S* (?P<status>20[06]) \S+ \d+ ")


class AccessLog:
    """The requests from now on."""

    def __init__(self, cluster: Cluster) -> None:
        self._file = Path(cluster.kubeconfig).parent / "s3-access.log"
        self._from = self._file.stat().st_size

    def gets(self, bucket: str, prefix: str) -> collections.Counter[str]:
        """{key beneath prefix: number of fetches}; a fetch that was broken off counts as one."""
        found: collections.Counter[str] = collections.Counter()
        with open(self._file, encoding="utf-8", errors="replace") as log:
            log.seek(self._from)
            for line in log:
                seen = GET.search(line)
                if seen and seen["bucket"] == bucket and seen["key"].startswith(prefix + "/"):
                    found[seen["key"].removeprefix(prefix + "/")] += 1
        return found
