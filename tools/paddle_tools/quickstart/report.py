# SPDX-License-Identifier: Apache-2.0
"""The quickstart's figures, from what the workers, the cache and the network card counted. Pure."""
import json
from typing import Any

MARK = "RESULT "
TOLERANCE = 0.05

Result = dict[str, Any]


def parse_results(log: str) -> list[Result]:
    """The workers' own figures: lines with RESULT and JSON, after any prefix."""
    return [json.loads(line[line.index(MARK) + len(MARK):]) for line in log.splitlines()
            if MARK in line]


class Report:
    """`reads` are the counters of the cache, `over_link` the bytes that the link carried,
    `set_size` the bytes of the samples."""

    def __init__(self, results: list[Result], reads: dict[str, int], over_link: int,
                 set_size: int) -> None:
        self.epochs: dict[int, list[Result]] = {}
        for result in results:
            if "epoch" in result:
                self.epochs.setdefault(result["epoch"], []).append(result)
        finals = [result for result in results if "accuracy" in result]
        self.accuracy = finals[0]["accuracy"] if finals else None
        self.readers = sum(result["bytes"] for result in finals)
        self.source = reads["fromSource"] + reads["fromMemory"]
        self.disk = reads["fromCache"]
        self.downloaded = reads["downloaded"]
        self.page_cache = self.readers - self.source - self.disk
        self.over_link, self.set_size = over_link, set_size

    def rate(self, epoch: int) -> float:
        """Samples per second of all workers together."""
        ranks = self.epochs[epoch]
        samples = sum(each["samples"] for each in ranks)
        return float(samples / max(each["seconds"] for each in ranks))

    def inconsistency(self) -> str | None:
        """Why the figures cannot be right; None when they can."""
        if self.accuracy is None or not self.epochs:
            return "the workers reported nothing"
        if self.page_cache < -TOLERANCE * self.readers:
            return "the cache served more bytes than the workers read"
        # Two independent counters: the cache's, and the network card's.
        if not 0 <= self.over_link - self.downloaded <= TOLERANCE * self.over_link + 1_000_000:
            return (f"the cache says that it downloaded {self.downloaded} bytes, "
                    f"the link carried {self.over_link}")
        return None

    def text(self, mbit: int) -> str:
        def row(name: str, size: int) -> str:
            part = 100 * size / self.readers if self.readers else 0
            return f"      {name:44}{size / 1e6:9.1f} MB {part:6.1f} %"

        lines = [f"    accuracy on images it has never seen: {self.accuracy:.3f}" if self.accuracy
                 is not None else "    no accuracy was reported"]
        if 1 in self.epochs:
            size = sum(each["bytes"] for each in self.epochs[1])
            count = sum(each["samples"] for each in self.epochs[1])
            limit = mbit * 1e6 / 8 / (size / count)
            lines += ["    samples per second, both workers together:",
                      f"      epoch 1, from the source over {mbit} Mbit/s   {self.rate(1):9.0f}"
                      f"   (the link allows {limit:.0f})"]
        names = {2: "epoch 2, cached (memory)", 3: "epoch 3, cached (memory dropped: disk)"}
        for epoch, name in names.items():
            if epoch in self.epochs:
                faster = self.rate(epoch) / self.rate(1)
                lines.append(f"      {name:42}{self.rate(epoch):9.0f}   ({faster:.1f} times)")
        lines += ["    where the workers' bytes came from:",
                  row("source, over the link", self.source),
                  row("disk cache", self.disk),
                  row("page cache or a sealed view (the rest)", self.page_cache),
                  row("all that the workers read", self.readers),
                  f"    downloaded {self.downloaded / 1e6:.1f} MB of a set of "
                  f"{self.set_size / 1e6:.1f} MB; the link carried {self.over_link / 1e6:.1f} MB"]
        return "\n".join(lines)
