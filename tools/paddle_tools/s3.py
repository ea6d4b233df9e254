# SPDX-License-Identifier: Apache-2.0
"""The few S3 calls that scripts need, signed with AWS Signature Version 4: make a bucket, put."""
import datetime
import hashlib
import hmac
import http.client
import urllib.parse


class Failure(Exception):
    """A sentence for the user."""


class S3:
    """One connection to a server with path-style addresses."""

    def __init__(self, host, port, access_key, secret_key, region="us-east-1"):
        self._connection = http.client.HTTPConnection(host, port, timeout=60)
        self._host = f"{host}:{port}"
        self._keys = access_key, secret_key
        self._region = region

    def make_bucket(self, bucket):
        self._put(f"/{bucket}", b"", fine=(200, 409))

    def put(self, bucket, key, data):
        self._put(f"/{bucket}/{key}", data, fine=(200,))

    def _put(self, path, data, fine):
        path = urllib.parse.quote(path)
        self._connection.request("PUT", path, data, self._signed(path, data))
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status not in fine:
            raise Failure(f"the S3 server refused {path}: {answer.status} {text[:300]!r}")

    def _signed(self, path, data):
        access, secret = self._keys
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
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
