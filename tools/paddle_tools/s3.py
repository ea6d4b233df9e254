# SPDX-License-Identifier: Apache-2.0
"""The few S3 calls that scripts need, signed with AWS Signature Version 4: make a bucket, put."""
import datetime
import hashlib
import hmac
import http.client
import urllib.parse

from paddle_tools.errors import ToolError


class S3Client:
    """One connection to a server with path-style addresses."""

    def __init__(self, host: str, port: int, access_key: str, secret_key: str,
                 region: str = "us-east-1") -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=60)
        self._host = f"{host}:{port}"
        self._keys = access_key, secret_key
        self._region = region

    def make_bucket(self, bucket: str) -> None:
        """No error when it exists."""
        self._put(f"/{bucket}", b"", accepted=(200, 409))

    def put(self, bucket: str, key: str, data: bytes) -> None:
        self._put(f"/{bucket}/{key}", data, accepted=(200,))

    def _put(self, path: str, data: bytes, accepted: tuple[int, ...]) -> None:
        path = urllib.parse.quote(path)
        self._connection.request("PUT", path, data, self._signed_headers(path, data))
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status not in accepted:
            raise ToolError(f"the S3 server refused {path}: {answer.status} {text[:300]!r}")

    def _signed_headers(self, path: str, data: bytes) -> dict[str, str]:
        access, secret = self._keys
        stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(data).hexdigest()
        headers = {"host": self._host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
        names = ";".join(headers)
        request = "\n".join(["PUT", path, "", *(f"{k}:{v}" for k, v in headers.items()), "", names,
                             digest])
        scope = f"{stamp[:8]}/{self._region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope,
                          hashlib.sha256(request.encode()).hexdigest()])
        key = f"AWS4{secret}".encode()
        for part in scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={access}/{scope},"
                                    f"SignedHeaders={names},Signature={signature}")
        return headers
