# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of an image, as SPDX 2.3 in JSON.

It has a package for the image, for each program of ours with its checksum, for each component of
tools/components.toml, for each Go module in those, and for each Debian package that a file of the
image is from. The same image gives the same bytes.
"""
import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paddle_tools import components
from paddle_tools.errors import ToolError
from paddle_tools.images import go_modules
from paddle_tools.images.content import Content, File
from paddle_tools.images.definitions import Definition

CREATED = "1970-01-01T00:00:00Z"  # as in the image itself
FILES_AT_ONCE = 500
Package = dict[str, Any]


def write(content: Content, entry: Definition, project: str, archive: Path) -> list[Path]:
    """Writes NAME.spdx.json and NAME.sha256 beside an archive; returns both paths."""
    document = archive.with_suffix(".spdx.json")
    sums = archive.with_suffix(".sha256")
    made = describe(content, entry, project, digest_of(archive))
    document.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")
    sums.write_text("".join(f"{digest_of(each)}  {each.name}\n" for each in (archive, document)))
    return [document, sums]


def describe(content: Content, entry: Definition, project: str, digest: str) -> dict[str, Any]:
    name, tag = entry["reference"].split(":")
    image = package("image", name, tag, files=[digest], purl=f"pkg:oci/{name}?tag={tag}")
    inside = [*programs(content, entry, project), *of_components(content, entry),
              *of_debian(content, entry)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{tag}",
        "documentNamespace": f"https://spdx.org/spdxdocs/paddle-operator-{name}-{digest}",
        "creationInfo": {"created": CREATED, "creators": ["Tool: paddle-operator-tools-images"]},
        "packages": [image, *inside],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
             "relatedSpdxElement": image["SPDXID"]},
            *({"spdxElementId": image["SPDXID"], "relationshipType": "CONTAINS",
               "relatedSpdxElement": each["SPDXID"]} for each in inside)]}


def package(kind: str, name: str, version: str, files: Iterable[str] = (), purl: str = "",
            licence: str = "NOASSERTION") -> Package:
    clean = "".join(each if each.isalnum() or each in ".-" else "-" for each in f"{name}-{version}")
    made: Package = {"SPDXID": f"SPDXRef-{kind}-{clean}", "name": name, "versionInfo": version,
                     "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                     "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
                     "copyrightText": "NOASSERTION"}
    if sums := [{"algorithm": "SHA256", "checksumValue": each} for each in files]:
        made["checksums"] = sums
    if purl:
        made["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                 "referenceLocator": purl}]
    return made


def sources(content: Content) -> list[tuple[str, Path]]:
    """(path in the image, file that it is from); what is made in place has no file."""
    return [(path, each.source) for path, each in content.sorted()
            if isinstance(each, File) and isinstance(each.source, Path)]


def programs(content: Content, entry: Definition, project: str) -> list[Package]:
    """Our own programs."""
    found = {}
    for path, source in {**entry["programs"], **entry["files"]}.items():
        kind, _, name = source.partition(":")
        made = content.entries.get(path)
        if kind == "build" and isinstance(made, File) and isinstance(made.source, Path):
            found[name] = package("program", name, project, [digest_of(made.source)],
                                  f"pkg:generic/{name}@{project}", "Apache-2.0")
    return [found[name] for name in sorted(found)]


def of_components(content: Content, entry: Definition) -> list[Package]:
    """Components of others, with the Go modules that are in them."""
    table, home = components.read_table(), components.cache()
    made: dict[str, Package] = {}
    for path, source in sources(content):
        if home not in source.parents:
            continue
        name = source.relative_to(home).parts[0]
        version = str(table[name]["version"])
        found = package("component", name, version, [digest_of(source)],
                        f"pkg:generic/{name}@{version}")
        made.setdefault(f"{name} {path}" if path in entry["files"] else name, found)
        for module in go_modules.read(source):
            purl = f"pkg:golang/{module.path}@{module.version}"
            made[purl] = package("go", module.path, module.version, purl=purl)
    return [made[key] for key in sorted(made)]


def of_debian(content: Content, entry: Definition) -> list[Package]:
    """The Debian packages that files of this system are from."""
    home = components.cache()
    own = {path for path, source in {**entry["programs"], **entry["files"]}.items()
           if source.startswith(("build:", "file:"))}
    files = [source for path, source in sources(content)
             if path not in own and home not in source.parents]
    files += content.origins
    names = owners(files)
    if not names:
        return []
    form = "${Package}\t${Version}\t${Architecture}\n"
    told = ask(["dpkg-query", "-W", "-f", form, *sorted(names)])
    return [package("deb", name, version,
                    purl=f"pkg:deb/debian/{name}@{version}?arch={machine}")
            for name, version, machine in sorted(set(map(fields, told.splitlines())))]


def fields(line: str) -> tuple[str, str, str]:
    name, version, machine = line.split("\t")
    return name, version, machine


def owners(files: list[Path]) -> set[str]:
    """The packages of files, by the names that dpkg knows: it has /lib where files are in
    /usr/lib."""
    both = {name for each in files for name in (str(each), str(each).removeprefix("/usr"))}
    names: set[str] = set()
    known: set[str] = set()
    ordered = sorted(both)
    for at in range(0, len(ordered), FILES_AT_ONCE):
        done = subprocess.run(["dpkg", "-S", *ordered[at:at + FILES_AT_ONCE]], check=False,
                              capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
        for line in done.stdout.splitlines():
            listed, _, path = line.rpartition(": ")
            if not listed.startswith("diversion "):
                names.update(listed.split(", "))
                known.add(path)
    for each in files:
        if not known & {str(each), str(each).removeprefix("/usr")}:
            raise ToolError(f"{each} is of no Debian package, so the bill of materials would lack "
                            "it; take it from a package or from tools/components")
    return names


def ask(argv: list[str]) -> str:
    done = subprocess.run(argv, check=False, capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        raise ToolError(f"{argv[0]}: {done.stderr.strip()}")
    return done.stdout


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
