# SPDX-License-Identifier: Apache-2.0
"""A folder of src/ includes only the folders that its module() or section() lists.

Fails on an include of a folder that DEPS does not name, on a name that is no module, on a cycle,
on a third-party header outside of the folders that may use that library, on a file of a PURE folder
that reaches I/O through any chain of includes, and on a header that promises to be pure in a folder
that is not PURE.
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
                  "programs", "source"],  # source: listings of BOS
    "openssl/": ["local/api_server", "net", "source", "tls"],
    "prometheus/": ["base"],
    "proto/": ["csi"],  # generated from proto/
    "date/": ["cron"],
    "re2/": ["api"],
    "yaml-cpp/": ["api"],
}
# A PURE folder reaches only PURE folders and base, without these headers: I/O that their own
# includes do not show.
IO_HEADERS = {"base/log.h", "base/metrics.h", "base/scratch.h", "base/unique_fd.h",
              "kube/cluster.h"}
# Beneath these folders of src/, a header whose contract says "Pure" lies in a PURE folder.
PROMISES_HOLD_IN = ("api", "controllers", "kube", "net", "engine/juicefs")
SYSTEM = ("sys/", "netinet/", "arpa/", "linux/", "net/", "asm/")
CALL = re.compile(
    r"^\s*(module|section|program|paddle_test|paddle_link|target_link_libraries)\(([^)]*)\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


@dataclass
class Module:
    name: str
    section_of: str = ""  # the module that it is a part of
    pure: bool = False
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
            declares = kind in ("module", "section")
            name = first if declares else folder
            module = found.setdefault(name, Module(name))
            if declares and name != folder:
                misnamed.append(f"{path}: {kind}({name}) is not the name of its folder, {folder}")
            module.pure |= declares and "PURE" in call
            if kind == "section":
                module.section_of = "?"
            tests = call.get("TESTS", []) + call.get("FUZZERS", [])
            if kind == "paddle_test":
                tests += call.get("SOURCES", [])
            module.test_stems.update(each.rsplit(".", 1)[0] for each in tests)
            if kind in ("module", "section", "program"):
                module.deps.update(set(call.get("DEPS", [])) - {name})
            elif kind == "paddle_link":
                module.deps.update(call[""][2:])
            else:
                module.test_deps.update(call.get("DEPS", []) + call[""][2:])
    misnamed += find_owners(found)
    for module in found.values():  # a test may name a module by its target: paddle_source_fake
        module.test_deps |= {name for name in found
                             if "paddle_" + name.replace("/", "_") in module.test_deps}
    return found, misnamed


def find_owners(modules: dict[str, Module]) -> Iterator[str]:
    """Fills in `section_of` of all sections; the result are problems."""
    whole = {name: each for name, each in modules.items() if not each.section_of}
    for module in modules.values():
        if module.section_of:
            module.section_of = owner(whole, module.name)
            if not module.section_of:
                yield f"section({module.name}) has no module() above it"


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
    if not may_include(modules, module, target, in_test):
        kind = "section" if module.section_of else "module"
        return f'includes "{name}", but its {kind}({module.name}) does not list {target} in DEPS'
    return None


def may_include(modules: dict[str, Module], module: Module, target: str, in_test: bool) -> bool:
    home = module.section_of or module.name
    above = modules[target].section_of
    known = {module.name} | module.deps
    if in_test:  # the program of the whole module runs the tests of its sections
        known |= module.test_deps | {home} | modules[home].test_deps
    if target in known or target == home:
        return True
    if above == home:  # a module may use its sections; they list each other by name
        return in_test or not module.section_of
    return above in known


def purity_problems(modules: dict[str, Module], includes: dict[str, list[str]]) -> Iterator[str]:
    """`includes`: the files of src/ with the files that each includes."""
    with_sections = {each.section_of for each in modules.values() if each.pure and each.section_of}

    def is_io(path: str) -> bool:
        name = owner(modules, path)
        if not name or path in IO_HEADERS:
            return True
        # A file beside pure sections is judged by what it includes.
        return not modules[name].pure and name not in with_sections and name != "base"

    for start in sorted(includes):
        module = modules.get(owner(modules, start))
        if not module or not module.pure or is_test(module, Path(start)):
            continue
        came_from, todo = {start: ""}, [start]
        while todo:
            path = todo.pop()
            if is_io(path):
                chain = [path]
                while came_from[chain[-1]]:
                    chain.append(came_from[chain[-1]])
                yield f"src/{start}: is PURE but reaches I/O: " + " <- ".join(chain)
                break
            for each in includes.get(path, ()):
                if each not in came_from:
                    came_from[each] = path
                    todo.append(each)


def promises_purity(header: str) -> bool:
    """Whether the comment that opens a header says that it is pure."""
    contract = re.match(r"(?://[^\n]*\n)*", header)
    return contract is not None and bool(re.search(r"\b[Pp]ure\b(?! but)", contract[0]))


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
    includes: dict[str, list[str]] = {}
    for path in source_tree.cxx_files(source_tree.list_files(top), "src/"):
        below = str(Path(*path.parts[1:]))
        name = owner(modules, below)
        if not name:
            yield f"{path}: its folder has no module()"
            continue
        code = (Path(top) / path).read_text()
        includes[below] = [each[1] for each in INCLUDE.finditer(code) if each[1]]
        must_be_pure = (below.startswith(tuple(each + "/" for each in PROMISES_HOLD_IN))
                        and path.suffix == ".h" and not is_test(modules[name], path)
                        and promises_purity(code))
        if must_be_pure and not modules[name].pure:
            yield f"{path}: says that it is pure, but its folder is not PURE"
        for match in INCLUDE.finditer(code):
            problem = (include_problem(modules, modules[name], path, match[1]) if match[1]
                       else library_problem(modules[name], path, match[2]))
            if problem:
                yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {problem}"
    yield from purity_problems(modules, includes)


def main() -> int:
    return source_tree.report("check_layers", list(problems(TOP)))
