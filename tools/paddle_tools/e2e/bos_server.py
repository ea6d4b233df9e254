# SPDX-License-Identifier: Apache-2.0
"""The part of Baidu's object storage that a reader of one bucket needs, over TLS: a listing, and
objects. It prints who calls and checks no signature.

    bos_server.py PORT BUCKET DIRECTORY

DIRECTORY has server.crt, server.key and the bucket's objects beneath objects/.
"""
import json
import ssl
import sys
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bucket: str
    root: Path

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, with_body: bool) -> None:
        # "bce-auth-v1/<access key>/<time>/..."
        said = self.headers.get("Authorization", "").split("/")
        print("caller " + "/".join(said[:2]), flush=True)
        asked = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(asked.path).strip("/").removeprefix(self.bucket).lstrip("/")
        if not key:
            self._send(200, json.dumps(self._listing(urllib.parse.parse_qs(asked.query))).encode(),
                       "application/json", with_body)
        elif (file := self.root / key).is_file():
            self._send(200, file.read_bytes(), "image/jpeg", with_body)
        else:
            self._send(404, b'{"code":"NoSuchKey","message":"no such key","requestId":"1"}',
                       "application/json", with_body)

    def _listing(self, query: dict[str, list[str]]) -> dict[str, object]:
        """Whole, but for the prefix and what comes before the marker."""
        prefix, marker = (query.get(each, [""])[0] for each in ("prefix", "marker"))
        found = sorted((str(path.relative_to(self.root)), path.stat().st_size)
                       for path in self.root.rglob("*") if path.is_file())
        return {"name": self.bucket, "prefix": prefix, "maxKeys": 1000, "isTruncated": False,
                "contents": [{"key": key, "size": size, "eTag": "tag", "storageClass": "STANDARD",
                              "lastModified": "2026-01-01T00:00:00Z"} for key, size in found
                             if key.startswith(prefix) and key > marker]}

    def _send(self, status: int, body: bytes, kind: str, with_body: bool) -> None:
        whole = len(body)
        words = self.headers.get("Range", "").removeprefix("bytes=").split("-")
        if status == 200 and len(words) == 2 and words[0].isdigit():
            first, last = int(words[0]), int(words[1] or whole - 1)
            status, body = 206, body[first:last + 1]
        self.send_response(status)
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{whole}")
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), "ETag": "tag",
                            "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: callers are logged above."""


def serve(port: int, bucket: str, directory: Path) -> None:
    Handler.bucket, Handler.root = bucket, directory / "objects"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "server.crt", directory / "server.key")
    server = ThreadingHTTPServer(("0.0.0.0", port), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    print("serves", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
