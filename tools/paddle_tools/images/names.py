# SPDX-License-Identifier: Apache-2.0
"""The one place that names images: config/images/kustomization.yaml, as kustomize reads it."""
from dataclasses import dataclass
from pathlib import Path

from paddle_tools.checks import plain_yaml
from paddle_tools.errors import ToolError

FILE = Path("config/images/kustomization.yaml")
BASE = "debian"  # what the build stage of the Containerfiles begins with


@dataclass(frozen=True)
class ImageName:
    name: str  # with its registry, if it has one
    tag: str
    digest: str  # empty, or sha256:...

    @property
    def reference(self) -> str:
        return f"{self.name}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


def load(top: Path) -> dict[str, ImageName]:
    """{name in config/ and in images.toml: the image}."""
    (read,) = plain_yaml.documents((top / FILE).read_text())
    found: dict[str, ImageName] = {}
    for entry in read["images"]:
        name = entry["name"]
        if name in found or not entry.get("newTag"):
            raise ToolError(f"{FILE}: '{name}' is named twice, or has no newTag")
        found[name] = ImageName(entry.get("newName", name), entry["newTag"],
                                entry.get("digest", ""))
    return found
