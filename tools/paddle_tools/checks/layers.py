# SPDX-License-Identifier: Apache-2.0
"""The tree is the architecture: a folder of src/ includes only what its module() lists.

Fails on an include of a folder that DEPS does not name, on a name that is no module, on a circle,
and on a third-party header outside the folders that may know that library.
"""
import re
from dataclasses import dataclass, field
from pathlib import Path

from paddle_tools.checks import source_tree as tree

# Which modules may include which library; a prefix of the path in <>. A folder stands for the
# folders beneath it too.
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
KEYWORDS = {"DEPS", "SOURCES", "TESTS", "FUZZERS", "LIBS", "LABELS", "ALONE"}
CALL = re.compile(
    r"^\s*(module|program|paddle_test|paddle_link|target_link_libraries)\(([^)]*)\)", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.M)


@dataclass
class Module:
    name: str
    deps: set = field(default_factory=set)
    test_deps: set = field(default_factory=set)  # of test programs declared in the same folder
    test_stems: set = field(default_factory=set)  # their files, fake_s3 for fake_s3.h and .cc


def read_call(text):
    """Words of a CMake call as {keyword: [words]}; the first words are under ''."""
    parts, key = {"": []}, ""
    for word in re.sub(r"#[^\n]*", "", text).split():
        if word in KEYWORDS:
            key = word
            parts.setdefault(key, [])
        else:
            parts[key].append(word.strip('"'))
    return parts


def modules_of(top):
    found = {}
    for path in tree.files(top):
        if path.name != "CMakeLists.txt" or path.parts[0] != "src":
            continue
        folder = "/".join(path.parts[1:-1])
        text = (Path(top) / path).read_text()
        for kind, body in CALL.findall(text):
            call = read_call(body)
            first = call[""][0]
            if kind == "target_link_libraries" and not first.endswith("_test"):
                continue
            name = first if kind == "module" else folder
            module = found.setdefault(name, Module(name))
            if kind == "module" and name != folder:
                yield f"{path}: module({name}) is not the name of its folder, {folder}"
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
    yield found


def owner(modules, path):
    """The module of the nearest folder above a path below src/; '' when there is none."""
    folder = path
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if folder in modules:
            return folder
    return ""


def is_test(module, path):
    return path.stem in module.test_stems or re.search(r"_(?:test|suite|fuzz)$", path.stem)


def allowed(library, module, path):
    for place in THIRD_PARTY[library]:
        if place == ANYWHERE_IN_TESTS and is_test(module, path):
            return True
        if module.name == place or module.name.startswith(place + "/"):
            return True
    return False


def include_problems(modules, module, path, ours, theirs):
    if ours:
        if ours.startswith("test/"):
            if not is_test(module, path):
                return f"includes {ours}, but only tests may"
            return None
        target = owner(modules, ours)
        known = {module.name} | module.deps | (module.test_deps if is_test(module, path) else set())
        if not target:
            return f'includes "{ours}", which belongs to no module'
        if target not in known:
            return f'includes "{ours}", but its module({module.name}) does not list {target} in DEPS'
        return None
    library = next((each for each in THIRD_PARTY if theirs.startswith(each)), None)
    if library:
        if not allowed(library, module, path):
            return f"includes <{theirs}>; only {', '.join(THIRD_PARTY[library])} may"
        return None
    if "/" in theirs and not theirs.startswith(SYSTEM):
        return f"includes <{theirs}>, a library that tools/check_layers does not know"
    return None


def circles(modules):
    done, path = set(), []

    def visit(name):
        if name in path:
            yield "circle: " + " -> ".join(path[path.index(name):] + [name])
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


def problems(top):
    *early, modules = modules_of(top)
    yield from early
    for module in modules.values():
        for dep in sorted(module.deps):
            if dep not in modules:
                yield f"module({module.name}) lists {dep}, which is no module"
            if dep == "programs":
                yield f"module({module.name}) lists programs, which nobody may include"
    yield from circles(modules)
    for path in tree.cxx(tree.files(top), "src/"):
        name = owner(modules, str(Path(*path.parts[1:])))
        if not name:
            yield f"{path}: its folder has no module()"
            continue
        code = (Path(top) / path).read_text()
        for match in INCLUDE.finditer(code):
            problem = include_problems(modules, modules[name], path, match[1] or "", match[2] or "")
            if problem:
                yield f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {problem}"


def main():
    return tree.finish("check_layers", list(problems(tree.root())))
