# SPDX-License-Identifier: Apache-2.0
"""The manager of PaddleJobs with other arguments, as the documents say: the list of args replaced."""
import contextlib
import json

from paddle_tools.e2e.cluster import SYSTEM

USUAL = ["--leader-elect", f"--namespace={SYSTEM}"]


@contextlib.contextmanager
def with_args(cluster, *more):
    """For a while."""
    set_args(cluster, [*USUAL, *more])
    yield
    set_args(cluster, USUAL)  # after a failure nothing follows: the cluster is left as it was found


def set_args(cluster, args):
    change = [{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": args}]
    cluster.kubectl("-n", SYSTEM, "patch", "deployment", "paddle-controller-manager",
                    "--type=json", "-p", json.dumps(change))
    cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/paddle-controller-manager",
                    "--timeout=60s", limit=90)
