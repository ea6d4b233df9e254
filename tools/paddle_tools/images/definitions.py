# SPDX-License-Identifier: Apache-2.0
"""tools/images.toml as values: every key of every image, checked, with its default."""
import re
import tomllib

from paddle_tools.errors import Failure
from paddle_tools.images import bundles

DEFAULTS = {"tag": "v{version}", "about": "", "bundles": [], "programs": {}, "files": {},
            "needed_by": [], "links": {}, "directories": {}, "user": "65532:65532",
            "entrypoint": [], "command": [], "env": {}, "workdir": "/", "build": True}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KINDS = ("build", "component", "system", "file")


def version(top):
    """The project's, which is also that of its images."""
    found = re.search(r"project\(\w+ VERSION ([0-9.]+)", (top / "CMakeLists.txt").read_text())
    return found.group(1)


def load(top):
    """{name: entry}; each entry has every key."""
    with open(top / "tools" / "images.toml", "rb") as file:
        return check(tomllib.load(file), version(top))


def check(table, project):
    return {name: complete(name, entry, project) for name, entry in table.items()}


def complete(name, entry, project):
    for key in entry:
        if key not in DEFAULTS:
            raise Failure(f"tools/images.toml: [{name}] has a key '{key}' that means nothing; "
                          f"there are {', '.join(DEFAULTS)}")
    whole = {**DEFAULTS, **entry}
    for each in whole["bundles"]:
        if each not in bundles.ALL:
            raise Failure(f"tools/images.toml: [{name}] asks for a bundle '{each}'; "
                          f"there are {', '.join(bundles.ALL)}")
    for source in (*whole["programs"].values(), *whole["files"].values(), *whole["needed_by"]):
        if source.split(":")[0] not in KINDS or ":" not in source:
            raise Failure(f"tools/images.toml: [{name}] names '{source}'; begin it with "
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
