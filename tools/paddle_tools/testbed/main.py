# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes cluster of several nodes on this machine, gone without a trace at its end.

    tools/testbed [--name NAME] up [--nodes 3] [--with PART,...] [--kubelet-dir DIR]
                                   [--foreground]
    tools/testbed prepare [--with PART,...]        only installs what `up` would
    tools/testbed [--name NAME] down               ends it; nothing is left
    tools/testbed [--name NAME] status             exit code 1 when it is not up
    tools/testbed [--name NAME] kubeconfig         the path of an administrator's kubeconfig
    tools/testbed [--name NAME] logs [PART]        the ends of all logs, or one log whole
    tools/testbed [--name NAME] node-kill N        switches a node off, as if its plug was pulled
    tools/testbed [--name NAME] node-start N       and on again, with the same disks
    tools/testbed [--name NAME] link-down N        cuts a node's network; link-up mends it
    tools/testbed [--name NAME] exec [nodeN | host] -- COMMAND...
    tools/testbed [--name NAME] load-image FILE.tar...    docker archives, on every node
    tools/testbed list                             the clusters of this machine

NAME is `bed` unless given; clusters of different names do not meet. Parts: redis, s3, etcd (for
elastic jobs), juicefs (its CSI driver), volcano, kwok=N (N false nodes: with them `--nodes 0` will
do), ipv6 (pods and services have two addresses, that of IPv6 first), policies (NetworkPolicies are
enforced). `up` installs what is missing, and returns when all nodes are Ready; with --foreground it
stays, and Ctrl-C ends the cluster. DIR is the root directory of all kubelets, beneath /var;
/var/lib/kubelet unless given. Needs root. Everything is in /tmp/paddle-testbed/NAME.
"""
import os
import sys

from paddle_tools.errors import ToolError
from paddle_tools.testbed import verbs


def main(argv: list[str]) -> int:
    try:
        return verbs.main(argv, __doc__ or "")
    except ToolError as failure:
        print(f"testbed: {failure}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader closed the pipe: do not flush to it at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        print(f"testbed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
