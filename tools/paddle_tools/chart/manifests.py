# SPDX-License-Identifier: Apache-2.0
"""The files of deploy/ as objects: each with its text and with the fields that the chart needs.

The YAML is kustomize's or our own, one key per line, so a line means the same wherever it stands.
"""
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle_tools.checks import plain_yaml
from paddle_tools.errors import ToolError


@dataclass(frozen=True)
class Manifest:
    """One object of a file: `text` without the separator, `fields` as plain_yaml reads them."""
    text: str
    fields: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.fields["kind"])

    @property
    def name(self) -> str:
        return str(self.fields["metadata"]["name"])

    @property
    def is_manager(self) -> bool:
        return self.kind == "Deployment" and self.name.endswith("-manager")


def read(deploy: Path, name: str) -> list[Manifest]:
    """The objects of one file beneath deploy/."""
    found = []
    for part in re.split(r"^---\s*\n", (deploy / name).read_text(), flags=re.M):
        lines = [_without_comment(line) for line in part.splitlines()
                 if not line.lstrip().startswith("#")]
        if any(line.strip() for line in lines):
            text = "\n".join(lines).strip("\n") + "\n"
            (fields,) = plain_yaml.documents(text)
            found.append(Manifest(text, fields))
    return found


def _without_comment(line: str) -> str:
    return line if '"' in line or "'" in line else re.sub(r"\s+#.*$", "", line)


def only(manifests: list[Manifest], kind: str, name: str) -> Manifest:
    """The object of that kind and name."""
    for each in manifests:
        if (each.kind, each.name) == (kind, name):
            return each
    raise ToolError(f"deploy/ has no {kind} {name}, which the chart needs")


def container(manifest: Manifest, name: str) -> dict[str, Any]:
    """The container of that name in a pod template."""
    for each in manifest.fields["spec"]["template"]["spec"]["containers"]:
        if each["name"] == name:
            return dict(each)
    raise ToolError(f"{manifest.kind} {manifest.name} has no container {name}")


def variable(of: dict[str, Any], name: str) -> str:
    """The value of a container's environment variable."""
    for each in of.get("env", ()):
        if each["name"] == name:
            return str(each["value"])
    raise ToolError(f"container {of['name']} has no variable {name}")
