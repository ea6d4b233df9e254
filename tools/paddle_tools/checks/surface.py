# SPDX-License-Identifier: Apache-2.0
"""The public surface, names and types that users and other programs depend on, is the golden one.

    tools/check_surface                       compares source and manifests with the golden files
    tools/check_surface --programs build/bin  compares flags.txt with --help of the programs there
    either with --write                       writes the golden files instead

The golden files are in test/golden/surface. The source counts as a set of string literals of the
files that the programs are made of: it does not matter where a literal is written, how often, or as
which constant. A literal with a space is prose and does not count.
"""
import itertools
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from paddle_tools.checks import plain_yaml, source_tree
from paddle_tools.json_types import Json
from paddle_tools.paths import TOP

Surface = dict[str, set[str]]  # golden file -> its entries

GOLDEN = "test/golden/surface"
FLAGS = "flags.txt"
PROGRAMS = ("paddle-operator", "paddle-cache", "paddlectl")
MANIFESTS = ("csi/juicefs.yaml", "extensions/controllers.yaml", "v1/operator.yaml",
             "v1beta1/operator.yaml")
DEFINITIONS = ("v1/crd.yaml", "v1beta1/crd.yaml")

# Golden file -> what a whole literal looks like.
PATTERNS = {
    # Reasons, types of conditions, phases, kinds, roles, columns.
    "words.txt": r"[A-Z][A-Za-z0-9]+",
    # Variables that are read or set; what follows '=' is left off.
    "environment.txt": r"_?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_?(?:=.*)?|_[A-Z]+(?:_[A-Z]+)*"
                       r"|[A-Z]+=.*|HOME|HOSTNAME|KUBECONFIG|LANG|PATH|TZ|(?:no|https?)_proxy",
    # Labels, annotations, finalizers, leases, API groups, drivers.
    "labels.txt": r"[a-z0-9][a-z0-9.-]*\.(?:com|io|org|sh)(?:/[\w.-]*)?|juicefs/[a-z-]+"
                  r"|[a-z0-9]+/v[0-9][a-z0-9]*",
    # Names of objects and their parts, keys of Secrets, files of volumes, options of mounts.
    "names.txt": r"[a-z0-9]+(?:-[a-z0-9]+)+|[a-z0-9]+-(?:[a-z0-9]+-)*|-[a-z][a-z0-9-]*"
                 r"|[a-z][a-z-]*:v?|[a-z_.-]+\.(?:crt|key|kubeconfig|log|sock)",
    # Of our servers and of those that we call.
    "routes.txt": r"/(?:apis?|healthz|livez|metrics|openapi|readyz|v[0-9]|version)(?:/\S*)?",
    # In containers and on nodes.
    "paths.txt": r"/(?!metadata)\S*paddle\S*|/(?:cache|mnt|registration|usr/local)\b\S*",
}
METRIC = r"paddle_[a-z_]+"
OPTION = r"--[a-z][A-Za-z-]*"

# Names of indexes and of decoders, which no one outside of the process sees.
INTERNAL = {
    "assigned-pod", "bound-claim", "bound-volume", "cache-label", "controller-uid", "csi-node",
    "member-pod", "node-facts", "object-stamp", "our-pod", "paddle-job", "pending-pod",
    "pod-group", "sample-job", "sample-set", "stateful-set",
}


def product(top: str | Path) -> Iterable[str]:
    """Text of each C++ file that a program is made of: the SOURCES of the modules that it names,
    directly or not, and the headers that these include. Tests and their helpers are not."""
    sources: dict[str, list[Path]] = {}
    deps: dict[str, list[str]] = {}
    sections: set[str] = set()
    wanted: list[str] = []
    for path in source_tree.list_files(top):
        if path.name != "CMakeLists.txt" or path.parts[0] != "src":
            continue
        text = (Path(top) / path).read_text()
        for kind, body in re.findall(r"^\s*(module|section|program)\(([^)]*)\)", text, re.M):
            call = source_tree.read_call(body)
            name = call[""][0]
            sources.setdefault(name, []).extend(
                path.parent / each for each in call.get("SOURCES", []))
            deps.setdefault(name, []).extend(call.get("DEPS", []))
            if kind == "program":
                wanted.append(name)
            if kind == "section":
                sections.add(name)
    for name in sections:  # compiled into the module above it
        above = name.rsplit("/", 1)[0]
        while above in sections or above not in deps:
            above = above.rsplit("/", 1)[0]
        deps[above].append(name)
        deps[name].append(above)
    modules = set()
    while wanted:
        name = wanted.pop()
        if name not in modules:
            modules.add(name)
            wanted += deps.get(name, [])
    files = [each for name in modules for each in sources.get(name, [])]
    texts = {}
    while files:
        path = files.pop()
        if path in texts or not (Path(top) / path).is_file():
            continue
        texts[path] = (Path(top) / path).read_text()
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', texts[path], re.M):
            files.append(Path("src") / name)
    return texts.values()


def of_source(top: str | Path) -> Surface:
    texts = list(product(top))
    every = {value for text in texts for value in source_tree.literals(text)}
    words = {each for each in every if each and not re.search(r"[\s\\]", each)}
    found = {name: {each for each in words if re.fullmatch(pattern, each)}
             for name, pattern in PATTERNS.items()}
    options = {each for word in words if re.match(r"(?:-\w,)?--", word)
               for each in re.findall(OPTION, word)}
    found["environment.txt"] = {each.partition("=")[0] for each in found["environment.txt"]}
    found["options.txt"] = options
    found["names.txt"] -= INTERNAL | {each[2:] for each in options}
    found["metrics.txt"] = set(metrics(texts))
    found["ports.txt"] = {each for text in texts for each in ports(text)}
    return found


def metrics(texts: list[str]) -> Iterator[str]:
    """`name{labels}`. The labels are in the call that names the metric, or in a variable of that
    call; a variable of the same file or a constant of any may stand for the metric's name."""
    codes = [source_tree.code_only(text, keep=r"\w+") for text in texts]
    named = re.compile(rf'(\w+)(?:\[\])?\s*[={{]\s*("{METRIC}")')
    constants = {name: literal for code in codes for name, literal in named.findall(code)
                 if re.match(r"k[A-Z]", name)}
    for code in codes:
        plain = code
        for name, literal in {**constants, **dict(named.findall(code))}.items():
            plain = re.sub(rf"\(\s*(?:\w+::)*{name}\b", f"({literal}", plain)
        for match in re.finditer(rf'\(\s*"({METRIC})"', plain):
            call = plain[match.end():closing(plain, match.end())]
            if given := re.search(r",\s*(\w+)\s*$", call):
                call += "".join(re.findall(rf"\b{given.group(1)}\s*=?\s*(\{{\{{.*?;)", plain, re.S))
            labels = re.findall(r'\{\s*"(\w+)"\s*,', call)
            yield f"{match.group(1)}{{{','.join(sorted(set(labels)))}}}"


def closing(code: str, start: int) -> int:
    """Where the parenthesis ends that is open at `start`."""
    depth = 1
    for match in re.compile(r"[()]").finditer(code, start):
        depth += 1 if match.group(0) == "(" else -1
        if depth == 0:
            return match.start()
    return len(code)


def ports(text: str) -> Iterator[str]:
    """Numbers that something called a port is given, in code or at the end of an address."""
    code = source_tree.code_only(text, keep=r"\w+")
    for match in re.finditer(r'(?i)(?<!re)port"?\s*[=,{]\s*([0-9]{4,5})\b', code):
        if match.group(1) != "65535":  # the highest of all
            yield match.group(1)
    for value in source_tree.literals(text):
        if address := re.fullmatch(r"\S*:([0-9]{4,5})", value):
            yield address.group(1)


def of_deploy(top: str | Path) -> Surface:
    """Entries of deploy/, each with the manifests that have it."""
    found: dict[str, dict[str, list[str]]] = {
        name: {} for name in ("columns.txt", "fields.txt", "objects.txt")}
    for names, entries_of in ((DEFINITIONS, of_definition), (MANIFESTS, of_object)):
        for name in names:
            path = Path(top) / "deploy" / name
            text = path.read_text() if path.is_file() else ""
            for document in plain_yaml.documents(text):
                for file, entry in entries_of(document):
                    found[file].setdefault(entry, []).append(name)
    return {file: {f"{entry} ({', '.join(sorted(set(names)))})" for entry, names in entries.items()}
            for file, entries in found.items()}


def of_definition(document: Json) -> Iterator[tuple[str, str]]:
    """(golden file, entry) of the fields and columns of a custom resource."""
    spec = document["spec"]
    kind = spec["names"]["kind"]
    for entry in flat(spec["names"], f"{kind} names"):
        yield "fields.txt", entry
    yield "fields.txt", f"{kind} scope: {spec['scope']}"
    for version in spec["versions"]:
        one = {**spec, **version}  # v1beta1 has some beside the versions
        where = f"{spec['group']}/{version['name']} {kind}"
        for key in ("served", "storage", "subresources"):
            for entry in flat(one[key], f"{where} {key}"):
                yield "fields.txt", entry
        schema = one.get("schema") or one["validation"]
        for entry in of_schema(schema["openAPIV3Schema"], ""):
            yield "fields.txt", f"{where} {entry}"
        for each in one["additionalPrinterColumns"]:
            path = each.get("jsonPath") or each["JSONPath"]
            yield "columns.txt", f"{where} {each['name']}: {each['type']} {path}"


def flat(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from flat(each, f"{path}.{key}")
    else:
        yield f"{path}: {','.join(value) if isinstance(value, (list, dict)) else value}"


def of_schema(schema: Json, path: str, required: bool = False) -> Iterator[str]:
    """`.path: type` of each field of ours; the template of a pod is one entry."""
    properties = schema.get("properties", {})
    if "containers" in properties.get("spec", {}).get("properties", {}):
        yield f"{path}: PodTemplateSpec"
        return
    if path:
        yield f"{path}: {type_of(schema)}{' required' if required else ''}"
    for name, each in properties.items():
        yield from of_schema(each, f"{path}.{name}", name in schema.get("required", ()))
    if isinstance(items := schema.get("items"), dict):
        yield from of_schema(items, f"{path}[]")
    if isinstance(values := schema.get("additionalProperties"), dict):
        yield from of_schema(values, f"{path}{{}}")


def type_of(schema: Json) -> str:
    if schema.get("x-kubernetes-int-or-string") == "true":
        return "integer or string"
    words = [schema.get("type", "any")]
    words += [schema["format"]] if "format" in schema else []
    words += ["nullable"] if schema.get("nullable") == "true" else []
    words += ["one of " + "|".join(schema["enum"])] if "enum" in schema else []
    return " ".join(words)


def of_object(document: Json) -> Iterator[tuple[str, str]]:
    """(golden file, entry) of an object that an installation makes, and of its containers."""
    meta = document["metadata"]
    where = f"{document['kind']} {meta.get('namespace', '')}/{meta['name']}"
    entries = [where]
    for each in containers(document):
        inside = f"{where} {each['name']}"
        entries += [f"{inside} argument {word}" for word in each.get("args", ())]
        entries += [f"{inside} variable {one['name']}" for one in each.get("env", ())]
        entries += [f"{inside} port {one['name']} {one['containerPort']}"
                    for one in each.get("ports", ())]
    for entry in entries:
        yield "objects.txt", entry


def containers(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key in ("containers", "initContainers"):
                yield from each
            else:
                yield from containers(each)
    elif isinstance(value, list):
        for each in value:
            yield from containers(each)


def of_programs(folder: str | Path) -> Surface:
    found: set[str] = set()
    for program in PROGRAMS:
        found.update(of_help(Path(folder) / program, []))
    return {FLAGS: found}


def of_help(program: Path, verbs: list[str]) -> Iterator[str]:
    text = subprocess.run([program, *verbs, "--help"], check=True, capture_output=True, text=True,
                          timeout=30).stdout
    yield from read_help(" ".join([program.name, *verbs]), text)
    for verb in verbs_of(text):
        yield from of_help(program, [*verbs, verb])


def sections(text: str) -> Iterator[tuple[str | None, str]]:
    """(heading, entry) of a help text. Descriptions begin at column 30, those of long entries on
    the next line."""
    heading: str | None = None
    for line, after in itertools.pairwise([*text.splitlines(), ""]):
        if re.fullmatch(r"\w[\w ]*:", line):
            heading = line[:-1]
        elif heading != "Examples" and re.match(r"  \S", line):
            entry = re.split(r"  ", line[2:])[0]
            if len(entry) >= 28 and not after.startswith(" " * 30):
                entry = line[:29]  # one blank is left before its description
            yield heading, entry.strip()


def verbs_of(text: str) -> list[str]:
    return [entry for heading, entry in sections(text) if heading == "Subcommands"]


def read_help(command: str, text: str) -> Iterator[str]:
    yield command
    for heading, entry in sections(text):
        if heading != "Subcommands":
            names, _, kind = entry.partition(" ")
            yield f"{command} {names}: {kind.strip() or 'flag'}"


def compared(top: str | Path, found: Surface) -> Iterator[str]:
    """One sentence for each entry that came or went."""
    for name, entries in sorted(found.items()):
        path = Path(top) / GOLDEN / name
        golden = set(path.read_text().splitlines()) if path.is_file() else set()
        for each in sorted(golden - entries):
            yield f"{GOLDEN}/{name}: '{each}' is gone"
        for each in sorted(entries - golden):
            yield f"{GOLDEN}/{name}: '{each}' is new"


def of_tree(top: str | Path) -> Surface:
    return {**of_source(top), **of_deploy(top)}


def problems(top: str | Path) -> Iterator[str]:
    yield from compared(top, of_tree(top))


def main(argv: list[str]) -> int:
    write = "--write" in argv
    argv = [each for each in argv if each != "--write"]
    if argv and (len(argv) != 2 or argv[0] != "--programs"):
        print(__doc__, file=sys.stdout if argv == ["--help"] else sys.stderr)
        return 0 if argv == ["--help"] else 2
    found = of_programs(argv[1]) if argv else of_tree(TOP)
    if write:
        (TOP / GOLDEN).mkdir(parents=True, exist_ok=True)
        for name, entries in found.items():
            (TOP / GOLDEN / name).write_text("".join(f"{each}\n" for each in sorted(entries)))
            print(f"{GOLDEN}/{name}: {len(entries)} entries")
        return 0
    differences = list(compared(TOP, found))
    if differences:
        print("If the change is intended, write the golden files: tools/check_surface --write"
              + "".join(f" {each}" for each in argv))
    return source_tree.report("check_surface", differences)
