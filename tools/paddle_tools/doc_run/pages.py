# SPDX-License-Identifier: Apache-2.0
"""The pages whose commands are run, in both languages, and what is the same in them."""
import re
from collections.abc import Iterator
from pathlib import Path

from paddle_tools.doc_run.page import (
    File,
    Page,
    PageError,
    differing_blocks,
    parse,
    resources,
    without_comments,
)

# Run on a cluster, in this order: the first begins with an empty one, the last uninstalls. And on
# one machine.
CLUSTER = ("ext-get-start.md", "sampleset.md", "samplejob.md", "paddlejob.md", "install.md")
LOCAL = ("local.md",)
MONITORING = "monitoring.md"
NOT_RUN_LIMIT = 10  # commands of all pages together

_METRIC = re.compile(r"\bpaddle_[a-z_]+")
ENGLISH, CHINESE = Path("docs/en"), Path("docs/zh_CN")


def load(top: Path, name: str) -> Page:
    return parse((top / ENGLISH / name).read_text())


def all_resources(top: Path) -> Iterator[tuple[str, str]]:
    """(where, YAML) of each block with whole resources, of all English pages."""
    for page in sorted((top / ENGLISH).glob("*.md")):
        for line, text in resources(page.read_text()):
            yield f"{page.name}:{line}", text


def problems(top: Path) -> Iterator[str]:
    """What is wrong with pages without running them."""
    not_run: list[str] = []
    for name in (*CLUSTER, *LOCAL):
        english = top / ENGLISH / name
        try:
            page = load(top, name)
        except PageError as error:
            yield f"{ENGLISH / name}:{error}"
            continue
        not_run += [f"{ENGLISH / name}:{line}: {command}" for line, command, _ in page.not_run]
        yield from _other_files(top, name, page)
        for each in differing_blocks((top / CHINESE / name).read_text(), english.read_text()):
            yield f"{CHINESE / name}: {each} of {ENGLISH / name}"
        if not any(getattr(step, "commands", ()) for step in page.steps):
            yield f"{ENGLISH / name}: has no command to run"
    yield from _unknown_metrics(top)
    if len(not_run) > NOT_RUN_LIMIT:
        listed = "; ".join(not_run)
        yield f"{len(not_run)} commands are not run, more than {NOT_RUN_LIMIT}: {listed}"


def _unknown_metrics(top: Path) -> Iterator[str]:
    """Metrics that a page about monitoring names and docs/METRICS.md does not have."""
    known = set(_METRIC.findall((top / "docs/METRICS.md").read_text()))
    for folder in (ENGLISH, CHINESE):
        for each in sorted(set(_METRIC.findall((top / folder / MONITORING).read_text()))):
            if each not in known and each.removesuffix("_bucket") not in known:
                yield f"{folder / MONITORING}: {each} is not in docs/METRICS.md"


def _other_files(top: Path, name: str, page: Page) -> Iterator[str]:
    for step in page.steps:
        if isinstance(step, File) and (known := top / step.name).is_file() and \
                without_comments(known.read_text()) != without_comments(step.text):
            yield f"{ENGLISH / name}:{step.line}: {step.name} of the repository is another"
