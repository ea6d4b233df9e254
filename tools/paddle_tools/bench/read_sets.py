# SPDX-License-Identifier: Apache-2.0
"""The sample sets of the read benchmark: native files and the same objects behind S3."""
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from paddle_tools.bench.network_link import Link
from paddle_tools.sandbox import SANDBOX

BUCKET = "samples"
PIECE = 4 << 20


@dataclass
class SampleFiles:
    """Files of one size, in directories of `per_directory`."""
    folder: str
    count: int
    size: int
    per_directory: int = 100
    names: list[str] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return SANDBOX / self.folder

    @property
    def source(self) -> str:
        return f"s3://{BUCKET}/{self.folder}"

    @property
    def total_bytes(self) -> int:
        return self.count * self.size

    def make(self, chance: random.Random) -> None:
        self.names = [f"c{i // self.per_directory:03}/{i:06}.jpg" for i in range(self.count)]
        for name in self.names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                for piece in self._pieces(chance):
                    file.write(piece)

    def _pieces(self, chance: random.Random) -> Iterator[bytes]:
        left = self.size
        while left > 0:
            yield chance.randbytes(min(left, PIECE))
            left -= PIECE

    def upload(self, link: Link, connections: int = 3) -> None:
        def send(share: list[str]) -> None:
            client = link.client()
            for name in share:
                client.put(BUCKET, f"{self.folder}/{name}", (self.root / name).read_bytes())
        with ThreadPoolExecutor(connections) as pool:
            list(pool.map(send, [self.names[i::connections] for i in range(connections)]))

    def order(self, chance: random.Random, passes: int = 1) -> Path:
        """The names in a new order, `passes` times over, in a file for the reader."""
        names = list(self.names)
        chance.shuffle(names)
        path = SANDBOX / f"order-{self.folder}-{passes}"
        path.write_text("\n".join(names * passes) + "\n")
        return path
