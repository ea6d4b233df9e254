# SPDX-License-Identifier: Apache-2.0
"""What the cluster's S3 server was asked for, by its own access log."""
import collections
import re
from pathlib import Path

GET = re.compile(r" s3_GetObject (?P<key>\S+) /(?P<bucket>[^/ ]+)/\S* (?P<status>20[06]) \S+ \d+ ")


class AccessLog:
    """From now on."""

    def __init__(self, cluster):
        self._file = Path(cluster.kubeconfig).parent / "s3-access.log"
        self._from = self._file.stat().st_size

    def gets(self, bucket, prefix):
        """{key beneath prefix: how often it was fetched}; one that was broken off counts whole."""
        found = collections.Counter()
        with open(self._file, encoding="utf-8", errors="replace") as log:
            log.seek(self._from)
            for line in log:
                seen = GET.search(line)
                if seen and seen["bucket"] == bucket and seen["key"].startswith(prefix + "/"):
                    found[seen["key"].removeprefix(prefix + "/")] += 1
        return found
