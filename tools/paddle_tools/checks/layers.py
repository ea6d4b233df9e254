# SPDX-License-Identifier: Apache-2.0
"""A folder of src/ includes only the modules that its module() lists.

Fails on an include of a folder that DEPS does not name, on a name that is no module, on a cycle,
and on a third-party header outside of the folders that may use that library.
"""
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from paddle_tools.checks import source_tree
from paddle_tools.paths import TOP

# Which modules may include which library, given as a prefix of the path in <>. A folder stands for
# the folders beneath it, too.
ANYWHERE_IN_TESTS = "tests"
THIRD_PARTY = {
    "CLI/": ["cli", "programs"],
    "boost/": ["local/api_server"],
    "curl/": ["net"],
    "gmock/": [ANYWHERE_IN_TESTS],
    "google/protobuf/": ["csi"],
    "grpc/": ["csi"],
    "grpcpp/": ["csi"],
    "gtest/": [ANYWHERE_IN_TESTS],
    "httplib.h": ["net"],
    "nlohmann/": ["api", "kube", "etcd", "engine", "runtime", "controllers", "local", "cli",
                  "programs"],
    "openssl/": ["local/api_server", "net", "source", "tls"],
    "prometheus/": ["base"],
    "proto/": ["csi"],  # generated from proto/
    "date/": ["cron"],
    "re2/": ["api"],
    "yaml-cpp/": ["kube"],
}
SYSTEM = ("sys/", "netinet/", "arpa/", "linux/", "net/", "asm/")
CALL = re.compile(
    r"^\s*(module|program|paddle_test|paddle_link|target_link_libraries)\(([^)]*)\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


@dataclass
class Module:
    name: str
    deps: set[str] = field(default_factory=set)
    test_deps: set[str] = field(default_factory=set)  # of test programs in the same folder
    test_stems: set[str] = field(default_factory=set)  # their files: fake_s3 for fake_s3.h and .cc


def read_modules(top: str | Path) -> tuple[dict[str, Module], list[str]]:
    """({name: module}, problems) of all CMakeLists.txt below src/."""
    found: dict[str, Module] = {}
    misnamed = []
    for path in source_tree.list_files(top):
        if path.name != "CMakeLists.txt" or path.parts[0] != "src":
            continue
        folder = "/".join(path.parts[1:-1])
        text = (Path(top) / path).read_text()
        for kind, body in CALL.findall(text):
            call = source_tree.read_call(body)
            first = call[""][0]
            if kind == "target_link_libraries" and not first.endswith("_test"):
                continue
            name = first if kind == "module" else folder
            module = found.setdefault(name, Module(name))
            if kind == "module" and name != folder:
                misnamed.append(f"{path}: module({name}) is not the name of its folder, {folder}")
            tests = call.get("TESTS", []) + call.get("FUZZERS", [])
            if kind == "paddle_test":
                tests += call.get("SOURCES", [])
            module.test_stems.update(each.rsplit(".", 1)[0] for each in tests)
            if kind in ("module", "program"):
                module.deps.update(set(call.get("DEPS", [])) - {name})
            elif kind == "paddle_link":
                module.deps.update(call[""][2:])
            else:
                module.test_deps.update(call.get("DEPS", []) + call[""][2:])
    for module in found.values():  # a test may name a module by its target: paddle_net_imposter
        module.test_deps |= {name for name in found
                             if "paddle_" + name.replace("/", "_") in module.test_deps}
    return found, misnamed


def owner(modules: dict[str, Module], path: str) -> str:
    """The module of the nearest folder above a path below src/; '' when there is none."""
    folder = path
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if folder in modules:
            return folder
    return ""


def is_test(module: Module, path: Path) -> bool:
    return (path.stem in module.test_stems
            or re.search(r"_(?:test|suite|fuzz)$", path.stem) is not None)


def allowed(library: str, module: Module, path: Path) -> bool:
    for folder in THIRD_PARTY[library]:
        if folder == ANYWHERE_IN_TESTS and is_test(module, path):
            return True
        if module.name == folder or module.name.startswith(folder + "/"):
            return True
    return False


def include_problem(modules: dict[str, Module], module: Module, path: Path,
                    name: str) -> str | None:
    """What is wrong with an include of "name"; None when it is allowed."""
    in_test = is_test(module, path)
    if name.startswith("test/"):
        return None if in_test else f"includes {name}, but only tests may"
    target = owner(modules, name)
    if not target:
        return f'includes "{name}", which belongs to no module'
    if target not in {module.name} | module.deps | (module.test_deps if in_test else set()):
        return f'includes "{name}", but its module({module.name}) does not list {target} in DEPS'
    return None


def library_problem(module: Module, path: Path, name: str) -> str | None:
    """What is wrong with an include of <name>; None when it is allowed."""
    library = next((each for each in THIRD_PARTY if name.startswith(each)), None)
    if library and not allowed(library, module, path):
        return f"includes <{name}>; only {', '.join(THIRD_PARTY[library])} may"
    if not library and "/" in name and not name.startswith(SYSTEM):
        return f"includes <{name}>, a library that tools/check_layers does not know"
    return None


def cycles(modules: dict[str, Module]) -> Iterator[str]:
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> Iterator[str]:
        if name in path:
            yield "cycle: " + " -> ".join([*path[path.index(name):], name])
            return
        if name in done or name not in modules:
            return
        path.append(name)
        for dep in sorted(modules[name].deps):
            yield from visit(dep)
        path.pop()
        done.add(name)

    for name in sorted(modules):
        yield from visit(name)


def problems(top: str | Path) -> Iterator[str]:
    modules, misnamed = read_modules(top)
    yield from misnamed
    for module in modules.values():
        for dep in sorted(module.deps):
            if dep not in modules:
                yield f"module({module.name}) lists {dep}, which is no module"
            if dep == "programs":
                yield f"module({module.name}) lists programs, which no module may include"
    yield from cycles(modules)
    for path in source_tree.cxx_files(source_tree.list_files(top), "src/"):
        name = owner(modules, str(Path(*path.parts[1:])))
        if not name:
            yield f"{path}: its folder has no module()"
            continue
        code = (Path(top) / path).read_text()
        for match in INCLUDE.finditer(code):
            problem = (include_problem(modules, modules[name], path, match[1]) if match[1]
                       else library_problem(modules[name], path, match[2]))
            if problem:
                yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {problem}"


def main() -> int:
    return source_tree.report("check_layers", list(problems(TOP)))
