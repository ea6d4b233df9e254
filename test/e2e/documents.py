# SPDX-License-Identifier: Apache-2.0
"""The documents: a reader does what they say, from an empty cluster to an uninstalled one.

PADDLE_DOCUMENTS_FILES=128660 makes the bucket as large as the original tutorial's (4.2 GiB).
The reader adds nothing. The images are on the nodes, as the documents demand; the public bucket
that they name is on the cluster's host.
"""
import os
import random
from pathlib import Path

from paddle_tools.doc_run import pages
from paddle_tools.doc_run.reader import Reader, ReadingFailed
from paddle_tools.doc_run.shell import Shell
from paddle_tools.e2e import example_files, public_stores, sample_sets
from paddle_tools.e2e.cluster import TOP, ScenarioFailed, component, expect, testbed
from paddle_tools.e2e.daemons import Daemons

MAKES_CLUSTERS = True
OURS = ("paddle-operator", "paddle-cache", *sample_sets.IMAGES)
OF_OTHERS = {"redis:7": "redis-e2e", "nginx": None}  # that the files name; None: of every cluster
IMAGES = (*OURS, *filter(None, OF_OTHERS.values()))
NAME = os.environ.get("PADDLE_E2E_NAME", "e2e") + "-docs"
# Of the bucket, in small.
PICTURES = int(os.environ.get("PADDLE_DOCUMENTS_FILES", "300"))
PICTURE = 35_000  # bytes, the mean of the original's 128,660 in 4.2 GiB


def run(scenario_run):
    try:
        with scenario_run.step("an empty cluster"):
            testbed(NAME, "down")
            testbed(NAME, "up")
            cluster = scenario_run.cluster(NAME)
        with cluster.step("images on the nodes: ours, and those that stand for redis and nginx"):
            cluster.load(*IMAGES)
            for name in OF_OTHERS:
                cluster.tag_image(example_files.IMAGES[name],
                                  name if ":" in name else f"{name}:latest")
        with public_stores.trusted(cluster), Daemons(cluster, "bucket") as daemons:
            with cluster.step("a public bucket"):
                public_stores.start_bos(daemons, dict(objects()))
            reads(cluster)
    finally:
        testbed(NAME, "down", limit=600)


def objects():
    """The tutorial's bucket: pictures of demo and train, and a list of labels."""
    dice = random.Random(7)
    keys = [f"demo/n01514859/n01514859_{number}.JPEG" for number in range(20)]
    for number in range(PICTURES):
        kind = f"n0{1440764 + number % 100}"
        keys.append(f"train/{kind}/{kind}_{number}.JPEG")
    for key in keys:
        yield f"imagenet/{key}", dice.randbytes(PICTURE)
    yield "imagenet/train_list.txt", "".join(f"{key} 0\n" for key in sorted(keys)).encode()


def reads(cluster):
    variables = {"PATH": f"{Path(component('kubectl')).parent}:{os.environ['PATH']}",
                 "HOME": str(Path(cluster.kubeconfig).parent), "KUBECONFIG": cluster.kubeconfig,
                 "LC_ALL": "C.UTF-8", "PADDLE_OPERATOR_CACHE": os.environ.get(
                     "PADDLE_OPERATOR_CACHE", str(Path.home() / ".cache/paddle-operator"))}
    with Shell(TOP, variables, limit=900 if PICTURES < 1000 else 3 * 3600) as shell:
        reader = Reader(shell, TOP, TOP, cluster.note)
        try:
            for name in pages.CLUSTER:
                page = pages.load(TOP, name)
                if name == pages.CLUSTER[-1]:  # which uninstalls
                    accepts(cluster)
                with cluster.step(f"{name}: {len(page.steps)} steps, "
                                  f"{len(page.not_run)} commands not run"):
                    try:
                        reader.read(name, page)
                    except ReadingFailed as failure:
                        cluster.describe(TOP / "build/logs/e2e/documents")
                        raise ScenarioFailed(str(failure)) from failure
        finally:
            reader.remove_files()
    cluster.note(f"{reader.ran} commands, {reader.compared} outputs as shown, "
                 f"{reader.changed} changed words noticed")
    expect(reader.compared and reader.changed, "nothing was compared")


def accepts(cluster):
    with cluster.step("the API server accepts every resource that a page shows"):
        found = list(pages.all_resources(TOP))
        for where, text in found:
            code, _, said = cluster.run("apply", "--dry-run=server", "--validate=strict",
                                        "-f", "-", stdin=text)
            # The one that a page shows as refused.
            expect((code == 0) == ("name: bad\n" not in text), f"{where}: {said}")
        cluster.note(f"{len(found)} blocks")
