# SPDX-License-Identifier: Apache-2.0
"""The manager of PaddleJobs with other arguments, set as the documents describe."""
import contextlib
import json
from collections.abc import Iterator

from paddle_tools.e2e.cluster import SYSTEM, Cluster

USUAL = ["--leader-elect", f"--namespace={SYSTEM}"]


@contextlib.contextmanager
def with_args(cluster: Cluster, *more: str) -> Iterator[None]:
    """Runs the manager with further arguments, then with the usual ones again."""
    set_args(cluster, [*USUAL, *more])
    yield
    set_args(cluster, USUAL)  # not after a failure: the cluster is left as it failed


def set_args(cluster: Cluster, args: list[str]) -> None:
    change = [{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": args}]
    cluster.kubectl("-n", SYSTEM, "patch", "deployment", "paddle-controller-manager",
                    "--type=json", "-p", json.dumps(change))
    cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-controller-manager",
                    "--timeout=60s", limit=90)
