# SPDX-License-Identifier: Apache-2.0
"""An S3 server whose bucket has any number of objects that exist nowhere.

    listing_stub COUNT PORT MBIT ROUND_TRIP_MS

Names, ETags and bytes follow from an object's number, so a listing of a million objects costs no
disk. Objects come over a link of MBIT for all connections together, each after a round trip;
listings come as fast as they are made. No request is authenticated.
"""
import bisect
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import overload
from urllib.parse import parse_qs, unquote, urlsplit

BUCKET = "million"
SIZE = 110_000
PER_DIRECTORY = 1_000


class Keys(Sequence[str]):
    """The keys of the bucket, in their order."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> list[str]: ...

    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(self._count))]
        if not 0 <= number < self._count:
            raise IndexError(number)
        directory = f"n{number // PER_DIRECTORY:08d}"
        return f"train/{directory}/{directory}_{number:08d}.JPEG"


def number_of(key: str) -> int:
    """The number of an object; ValueError for a key that is none."""
    return int(key.rpartition("_")[2].removesuffix(".JPEG"))


def etag_of(number: int) -> str:
    """As of an object that was uploaded in parts: no MD5, of 32 digits and a number."""
    return f"{number:032x}-1"


def bytes_of(key: str) -> bytes:
    return (key.encode() * (SIZE // len(key) + 1))[:SIZE]


def page_of(keys: Sequence[str], after: str, most: int) -> str:
    """A page of ListObjectsV2; its token is its last key."""
    first = bisect.bisect_right(keys, after) if after else 0
    end = min(first + most, len(keys))
    parts = ["<ListBucketResult><IsTruncated>", "true" if end < len(keys) else "false",
             "</IsTruncated>"]
    if first < end < len(keys):
        parts.append(f"<NextContinuationToken>{keys[end - 1]}</NextContinuationToken>")
    parts += [f"<Contents><Key>{keys[each]}</Key><LastModified>2026-01-01T00:00:00.000Z"
              f"</LastModified><ETag>&quot;{etag_of(each)}&quot;</ETag><Size>{SIZE}</Size>"
              "</Contents>" for each in range(first, end)]
    parts.append("</ListBucketResult>")
    return "".join(parts)


class Link:
    """One rate for all who send."""

    def __init__(self, mbit: float, round_trip_ms: float) -> None:
        self._seconds_per_byte = 8 / (mbit * 1e6)
        self._round_trip = round_trip_ms / 1e3
        self._lock = threading.Lock()
        self._free = 0.0

    def pass_over(self, size: int) -> None:
        with self._lock:
            self._free = max(self._free, time.monotonic()) + size * self._seconds_per_byte
            until = self._free
        time.sleep(max(0.0, until - time.monotonic()) + self._round_trip)


def handler_of(keys: Keys, link: Link) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:  # the name that http.server calls
            url = urlsplit(self.path)
            key = unquote(url.path).removeprefix(f"/{BUCKET}").removeprefix("/")
            if key:
                self.send_object(key)
            else:
                self.send_page(parse_qs(url.query))

        def send_page(self, query: dict[str, list[str]]) -> None:
            after = query.get("continuation-token", query.get("start-after", [""]))[0]
            most = int(query.get("max-keys", ["1000"])[0])
            self.answer(200, page_of(keys, after, most).encode())

        def send_object(self, key: str) -> None:
            try:
                number = number_of(key)
            except ValueError:
                number = -1
            if not 0 <= number < len(keys) or keys[number] != key:
                self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
                return
            body = bytes_of(key)
            asked = self.headers.get("Range", "").removeprefix("bytes=")
            first, _, last = asked.partition("-")
            part = body[int(first):int(last) + 1] if asked else body
            link.pass_over(len(part))
            more = {"ETag": f'"{etag_of(number)}"'}
            if asked:
                more["Content-Range"] = f"bytes {first}-{last}/{SIZE}"
            self.answer(206 if asked else 200, part, more)

        def answer(self, code: int, body: bytes, more: dict[str, str] | None = None) -> None:
            self.send_response(code)
            for name, value in (more or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing: a line for each of a million requests is of no use."""

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main(argv: list[str]) -> None:
    count, port, mbit, round_trip_ms = argv
    link = Link(float(mbit), float(round_trip_ms))
    with Server(("127.0.0.1", int(port)), handler_of(Keys(int(count)), link)) as server:
        print("listening", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
