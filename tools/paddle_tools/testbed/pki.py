# SPDX-License-Identifier: Apache-2.0
"""The cluster's certificate authority and what it signs, with the openssl program."""
import base64
import json
import subprocess
from collections.abc import Iterable

from paddle_tools.errors import ToolError
from paddle_tools.testbed.layout import (
    API_PORT,
    DOMAIN,
    FIRST_SERVICE_6,
    HOST,
    HOST_6,
    Layout,
    node_name,
)
from paddle_tools.testbed.process import environment, write

# Keeps openssl from reading the machine's own configuration.
_CONFIG = """[req]
distinguished_name = dn
[dn]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign, digitalSignature
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth, serverAuth
"""


def identities(layout: Layout) -> dict[str, tuple[str, str, list[str]]]:
    """name -> (common name, organization, names and addresses)"""
    found = {
        "apiserver": ("kube-apiserver", "", [
            "kubernetes", "kubernetes.default", "kubernetes.default.svc",
            f"kubernetes.default.svc.{DOMAIN}", "localhost",
            "127.0.0.1", "10.97.0.1", HOST, layout.outside_address, FIRST_SERVICE_6, HOST_6]),
        "kubelet-client": ("kube-apiserver-kubelet-client", "system:masters", []),
        "admin": ("admin", "system:masters", []),
        "bed": ("testbed", "system:masters", []),
        "controller-manager": ("system:kube-controller-manager", "", []),
        "scheduler": ("system:kube-scheduler", "", []),
        "proxy": ("system:kube-proxy", "", []),
    }
    for i in layout.node_numbers():
        found[node_name(i)] = (f"system:node:{node_name(i)}", "system:nodes",
                               [node_name(i), *layout.node_addresses(i)])
    return found


def subject(common_name: str, organization: str) -> str:
    return (f"/O={organization}" if organization else "") + f"/CN={common_name}"


def alternatives(names: Iterable[str]) -> str:
    return ",".join(("IP:" if each[0].isdigit() or ":" in each else "DNS:") + each
                    for each in names)


def _openssl(*argv: object) -> subprocess.Popen[str]:
    return subprocess.Popen(["openssl", *map(str, argv)], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.STDOUT, env=environment())


def _finish(children: list[subprocess.Popen[str]]) -> None:
    for child in children:
        output, _ = child.communicate()
        if child.returncode != 0:
            raise ToolError(f"openssl failed:\n{output}")


def make(layout: Layout) -> None:
    """Makes the CA, a pair for each identity, and the key that signs service accounts' tokens."""
    pki = layout.pki
    pki.mkdir(mode=0o700)
    config = pki / "openssl.cnf"
    write(config, _CONFIG)
    new = ["req", "-x509", "-config", config, "-newkey", "ec", "-pkeyopt",
           "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]
    _finish([_openssl(*new, "-extensions", "ca", "-subj", subject(f"testbed-{layout.name}", ""),
                      "-keyout", pki / "ca.key", "-out", pki / "ca.crt"),
             _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                      pki / "accounts.key")])
    signing = [_openssl("pkey", "-in", pki / "accounts.key", "-pubout", "-out",
                        pki / "accounts.pub")]
    for name, (common_name, organization, names) in identities(layout).items():
        more = ["-addext", f"subjectAltName={alternatives(names)}"] if names else []
        signing.append(_openssl(*new, "-CA", pki / "ca.crt", "-CAkey", pki / "ca.key",
                                "-extensions", "leaf", *more,
                                "-subj", subject(common_name, organization),
                                "-keyout", pki / f"{name}.key", "-out", pki / f"{name}.crt"))
    _finish(signing)


def kubeconfig(server: str, authority: bytes, certificate: bytes, key: bytes) -> str:
    """A kubeconfig that needs no other file; JSON is YAML."""
    def inline(data: bytes) -> str:
        return base64.b64encode(data).decode()
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "testbed",
        "clusters": [{"name": "testbed", "cluster": {
            "server": server, "certificate-authority-data": inline(authority)}}],
        "users": [{"name": "testbed", "user": {
            "client-certificate-data": inline(certificate), "client-key-data": inline(key)}}],
        "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": "testbed"}}],
    }, indent=1) + "\n"


def write_kubeconfigs(layout: Layout) -> None:
    """One for the machine, and one inside for each client of the API server."""
    def of(name: str, server: str) -> str:
        return kubeconfig(server, *((layout.pki / each).read_bytes()
                                    for each in ("ca.crt", f"{name}.crt", f"{name}.key")))
    write(layout.kubeconfig, of("admin", layout.server), 0o600)
    for name in identities(layout):
        write(layout.config / f"{name}.kubeconfig", of(name, f"https://{HOST}:{API_PORT}"), 0o600)
