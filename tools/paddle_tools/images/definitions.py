# SPDX-License-Identifier: Apache-2.0
"""The image definitions of tools/images.toml, checked, with defaults for missing keys."""
import re
import tomllib
from pathlib import Path
from typing import Any

from paddle_tools.errors import ToolError
from paddle_tools.images import bundles, names

Definition = dict[str, Any]  # one image; the keys are those of DEFAULTS and "reference"

DEFAULTS: Definition = {"tag": "v{version}", "about": "", "bundles": [], "programs": {},
                        "files": {}, "needed_by": [], "links": {}, "directories": {},
                        "user": "65532:65532", "entrypoint": [], "command": [], "env": {},
                        "workdir": "/", "build": True}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KINDS = ("build", "component", "system", "file")


def version(top: Path) -> str:
    """The project's version, which is also that of its images."""
    text = (top / "CMakeLists.txt").read_text()
    return re.findall(r"project\(\w+ VERSION ([0-9.]+)", text)[0]


def load(top: Path) -> dict[str, Definition]:
    """{name: definition}; each definition has every key."""
    with open(top / "tools" / "images.toml", "rb") as file:
        read = tomllib.load(file)
    for name, image in names.load(top).items():
        if name in read:
            if "tag" in read[name]:
                raise ToolError(f"tools/images.toml: [{name}] has a tag in {names.FILE} already")
            read[name]["tag"] = image.tag
    return check(read, version(top))


def check(definitions: dict[str, Any], project: str) -> dict[str, Definition]:
    return {name: complete(name, entry, project) for name, entry in definitions.items()}


def complete(name: str, entry: dict[str, Any], project: str) -> Definition:
    for key in entry:
        if key not in DEFAULTS:
            raise ToolError(f"tools/images.toml: [{name}] has an unknown key '{key}'; "
                            f"there are {', '.join(DEFAULTS)}")
    whole = {**DEFAULTS, **entry}
    for each in whole["bundles"]:
        if each not in bundles.ALL:
            raise ToolError(f"tools/images.toml: [{name}] names an unknown bundle '{each}'; "
                            f"there are {', '.join(bundles.ALL)}")
    for source in (*whole["programs"].values(), *whole["files"].values(), *whole["needed_by"]):
        if source.split(":")[0] not in KINDS or ":" not in source:
            raise ToolError(f"tools/images.toml: [{name}] names '{source}'; begin it with "
                            f"{', '.join(each + ':' for each in KINDS)}")
    whole["tag"] = whole["tag"].format(version=project)
    whole["reference"] = f"{name}:{whole['tag']}"
    whole["env"] = [f"{key}={value}" for key, value in
                    sorted({"PATH": PATH, **whole["env"]}.items())]
    whole["labels"] = {"org.opencontainers.image.title": name,
                       "org.opencontainers.image.version": whole["tag"]}
    if whole["about"]:
        whole["labels"]["org.opencontainers.image.description"] = whole["about"]
    return whole
