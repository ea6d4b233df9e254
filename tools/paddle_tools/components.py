# SPDX-License-Identifier: Apache-2.0
"""Installs the pinned real components that tests run (components.toml).

    tools/components install NAME...    what is there already costs nothing
    tools/components path NAME...       where its program (its packages, for kind python; its jars,
                                        for kind maven) is; fails when not installed
    tools/components list               all of them
    tools/components pin                writes components.d/debian.sha256: the Debian packages of
                                        kind deb as apt offers them now

They live outside the tree, per name and version, in
${PADDLE_OPERATOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/paddle-operator}. A component appears there
by one rename of a complete directory, so a killed run leaves nothing that counts as installed; the
next run goes on from the compiler's own cache. Two runs at once share one build: the second waits.

Another Kubernetes than that of components.toml: PADDLE_KUBERNETES=VERSION, of components.d.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle_tools import debian_pins
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS

Entry = dict[str, Any]  # of components.toml

LINK_FLAGS = "-s -w"
KUBERNETES = "kubernetes"  # the module set of its programs
OTHER_KUBERNETES = "PADDLE_KUBERNETES"  # the variable with the version of another one
RUN_PATH = "{home}/lib:$ORIGIN/../lib"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def cache() -> Path:
    env = os.environ.get
    base = env("XDG_CACHE_HOME") or os.path.join(env("HOME") or "/tmp", ".cache")
    return Path(env("PADDLE_OPERATOR_CACHE") or os.path.join(base, "paddle-operator")).absolute()


def read_table() -> dict[str, Entry]:
    with open(TOOLS / "components.toml", "rb") as file:
        entries = tomllib.load(file)
    if version := os.environ.get(OTHER_KUBERNETES):
        modules = kubernetes_modules(version, entries)
        for entry in entries.values():
            if entry.get("modules") == KUBERNETES:
                entry.update(version=version, modules=modules)
    return entries


def kubernetes_modules(version: str, entries: dict[str, Entry]) -> str:
    """The folder of components.d with the modules of a version of Kubernetes."""
    known = {entries["kubelet"]["version"]: KUBERNETES}
    for folder in (TOOLS / "components.d").glob(f"{KUBERNETES}-*"):
        text = (folder / "go.mod").read_text()
        known[re.findall(r"require k8s\.io/kubernetes v(\S+)", text)[0]] = folder.name
    if version not in known:
        raise ToolError(f"there are no modules of Kubernetes {version}; there are those of "
                        f"{', '.join(sorted(known))}")
    return known[version]


def find_entry(name: str) -> Entry:
    entries = read_table()
    if name not in entries:
        raise ToolError(f"there is no component '{name}'; there are: {', '.join(entries)}")
    return entries[name]


def log(text: str) -> None:
    print(f"components: {text}", flush=True)


# --- what counts as installed ---------------------------------------------------------------------

def recipe(name: str, entry: Entry) -> str:
    """A digest that changes whenever the same version would be built differently."""
    digest = hashlib.sha256(json.dumps([name, entry, LINK_FLAGS], sort_keys=True).encode())
    if entry["kind"] == "go":
        modules = TOOLS / "components.d" / entry["modules"]
        for file in (modules / "go.mod", modules / "go.sum", *sorted(modules.glob("main*.go"))):
            digest.update(file.read_bytes())
        digest.update(find_entry("go")["version"].encode())
    if entry["kind"] == "python":
        digest.update((TOOLS / "components.d" / name / "requirements.txt").read_bytes())
        digest.update(sys.version.encode())
    if "libraries" in entry:
        digest.update(RUN_PATH.encode())
    return digest.hexdigest()


def home(name: str, entry: Entry) -> Path:
    return cache() / name / str(entry["version"])


def installed(name: str, entry: Entry) -> bool:
    with contextlib.suppress(OSError):
        return (home(name, entry) / ".recipe").read_text() == recipe(name, entry)
    return False


def program(name: str, entry: Entry) -> Path:
    if entry["kind"] == "python":
        return home(name, entry) / "site"
    if entry["kind"] == "maven":
        return home(name, entry) / "jars"
    return home(name, entry) / "bin" / (Path(entry["files"][0]).name if "files" in entry else name)


def publish(name: str, entry: Entry, made: Path, trash: Path) -> None:
    """Makes a complete directory the installed one, by rename; a previous one goes to `trash`."""
    (made / ".recipe").write_text(recipe(name, entry))
    run(["sync", "-f", made])
    target = home(name, entry)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.rename(trash / f"{name}.old")
    made.rename(target)


# --- running things -------------------------------------------------------------------------------

def run(argv: Sequence[str | Path], env: Mapping[str, str] | None = None,
        cwd: Path | None = None, capture: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end. It is killed when this process dies, so that nothing goes on in
    the background. A failure raises ToolError, unless `capture` leaves it to the caller."""
    words = [str(each) for each in argv]
    done = subprocess.run(["setpriv", "--pdeathsig", "KILL", *words], env=env, cwd=cwd,
                          text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 and not capture:
        shown = "\n".join(done.stdout.splitlines()[-30:])
        raise ToolError(f"'{' '.join(words)}' failed:\n{shown}")
    return done


@contextlib.contextmanager
def work_directory(group: str) -> Iterator[Path]:
    """An empty directory in the cache, with the lock of the group held. What is in the directory
    when the lock was free was left by a run that was killed."""
    place = cache() / "workshop" / group
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(place.with_suffix(".lock"), "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log(f"another run is installing {group}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Logs the beginning, a reminder every minute, and how long it took."""
    start = time.monotonic()
    ended = threading.Event()

    def remind() -> None:
        while not ended.wait(60):
            log(f"{what}: still working after {time.monotonic() - start:.0f} s")

    log(f"{what} ...")
    threading.Thread(target=remind, daemon=True).start()
    try:
        yield
        log(f"{what}: done in {time.monotonic() - start:.1f} s")
    finally:
        ended.set()


# --- the five kinds -------------------------------------------------------------------------------

def install_wheel(name: str, entry: Entry) -> None:
    with work_directory(name) as place:
        if installed(name, entry):
            return
        with progress(f"{name} {entry['version']}: fetching"):
            need_pip()
            wanted = place / "requirements.txt"
            hashes = " ".join(f"--hash={each}" for each in entry["hashes"])
            wanted.write_text(f"{entry['package']}=={entry['version']} {hashes}\n")
            run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
                 "--require-hashes", "--no-cache-dir", "--dest", place, "-r", wanted])
            (wheel,) = place.glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(place)
            tree = place / entry["tree"]
            for folder in ("bin", "pkg/tool"):  # zip archives carry no permissions
                for file in (tree / folder).rglob("*"):
                    file.chmod(0o755)
            publish(name, entry, tree, place)


def need_pip() -> None:
    if run([sys.executable, "-m", "pip", "--version"], capture=True).returncode != 0:
        run([TOOLS / "bootstrap"])


def install_python(name: str, entry: Entry) -> None:
    """Python packages in a directory for PYTHONPATH, each checked against its hash."""
    with work_directory(name) as place:
        if installed(name, entry):
            return
        with progress(f"{name} {entry['version']}: fetching"):
            need_pip()
            site = place / "made" / "site"
            # --no-build-isolation: a build that fetched its tools would check no hash of theirs.
            sources = [f"--no-binary={each}" for each in entry.get("sources", [])]
            run([sys.executable, "-m", "pip", "install", "--no-deps", "--only-binary=:all:",
                 *sources, "--no-build-isolation", "--require-hashes", "--no-cache-dir",
                 "--no-warn-script-location", "--target", site,
                 "-r", TOOLS / "components.d" / name / "requirements.txt"])
            publish(name, entry, place / "made", place)


def install_deb(name: str, entry: Entry) -> None:
    with work_directory(name) as place:
        if installed(name, entry):
            return
        with progress(f"{name} {entry['version']}: unpacking {entry['package']}"):
            fetch = ["apt-get", "download", "-q", "-o", "APT::Sandbox::User=root",
                     *debian_pins.packages_of(entry)]
            if run(fetch, cwd=place, capture=True).returncode != 0:
                run([TOOLS / "bootstrap", "--update"])
                run(fetch, cwd=place)
            pins = debian_pins.load()
            for package in place.glob("*.deb"):
                if note := debian_pins.check(package, pins):
                    log(note)
                run(["dpkg-deb", "-x", package, place / "root"])
            made = place / "made"
            (made / "bin").mkdir(parents=True)
            for file in entry.get("files", []):
                (place / "root" / file).rename(made / "bin" / Path(file).name)
            main = made / "bin" / program(name, entry).name
            if "file" in entry:
                (place / "root" / entry["file"]).rename(main)
            if "libraries" in entry:
                bring_libraries(place / "root", made, main, home(name, entry))
            check_version(place, entry, main)
            publish(name, entry, made, place)


def check_version(place: Path, entry: Entry, main: Path) -> None:
    """The program runs and has the pinned version; with `told-by = "package"` its package has."""
    shown = run([main, entry.get("asked", "--version")], env={}).stdout.strip()
    if entry.get("told-by") == "package":
        (package,) = place.glob(f"{entry['package']}_*.deb")
        shown = run(["dpkg-deb", "-f", package, "Version"]).stdout
    if entry["version"] not in shown:
        raise ToolError(f"the package {entry['package']} has another version than "
                        f"{entry['version']}: {shown.splitlines()[0]}")


def bring_libraries(root: Path, made: Path, main: Path, target: Path) -> None:
    """Puts shared libraries beside a program and writes their place into it. A script that sets a
    variable is not enough: buildah runs copies of itself in memory, without an environment."""
    (made / "lib").mkdir()
    for library in (*root.glob("usr/lib/*/*.so.*"), *root.glob("lib/*/*.so.*")):
        library.rename(made / "lib" / library.name)
    run([root / "usr/bin/patchelf", "--force-rpath", "--set-rpath", RUN_PATH.format(home=target),
         main])


def install_maven(name: str, entry: Entry) -> None:
    """Exactly the jars with the given coordinates in a directory, each checked against its sum."""
    with work_directory(name) as place:
        if installed(name, entry):
            return
        with progress(f"{name} {entry['version']}: fetching"):
            need_maven()
            jars = place / "made" / "jars"
            jars.mkdir(parents=True)
            (place / "pom.xml").write_text(project(entry["artifacts"]))
            run(["mvn", "-q", "-B", "-f", place / "pom.xml", f"-Dmaven.repo.local={place}/m2",
                 MAVEN_COPY, f"-DoutputDirectory={jars}", "-DexcludeTransitive=true"])
            for coordinates, wanted in entry["artifacts"].items():
                _, artifact, version = coordinates.split(":")
                jar = jars / f"{artifact}-{version}.jar"
                if not jar.is_file() or hashlib.sha256(jar.read_bytes()).hexdigest() != wanted:
                    raise ToolError(f"{jar.name} has another sha256 than components.toml")
            publish(name, entry, place / "made", place)


def need_maven() -> None:
    """Installs Maven if it is missing, which brings Java. tools/bootstrap does not: few tests need
    it."""
    if shutil.which("mvn"):
        return
    wanted = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-q", "-y",
              "--no-install-recommends", "-o", "DPkg::Lock::Timeout=600", "maven"]
    if run(wanted, capture=True).returncode != 0:
        run([TOOLS / "bootstrap", "--update"], capture=True)
        if run(wanted, capture=True).returncode != 0:
            raise ToolError("Java and Maven are missing and could not be installed; "
                            "as root: apt-get install maven")


def project(artifacts: Mapping[str, str]) -> str:
    """The pom.xml of a project that depends on the artifacts."""
    parts = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
        "</dependency>".format(*each.split(":")) for each in artifacts)
    return ('<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
            "<groupId>components</groupId><artifactId>components</artifactId><version>1</version>"
            f"<dependencies>{parts}</dependencies></project>\n")


def go_environment(cgo: bool) -> dict[str, str]:
    """The user's proxy settings, our toolchain and our caches. Only the module proxy is asked over
    the network: every module is checked against the committed go.sum."""
    toolchain = home("go", find_entry("go"))
    env = {key: value for key, value in os.environ.items()
           if key in ("GOPROXY", "GONOPROXY", "GOPRIVATE", "GOSUMDB", "GONOSUMDB", "GOINSECURE",
                      "GOENV", "GOAUTH") or not key.startswith(("GO", "CGO_"))}
    env.update(PATH=f"{toolchain}/bin:{os.environ.get('PATH', '/usr/bin:/bin')}",
               GOROOT=str(toolchain), GOTOOLCHAIN="local", GOFLAGS="-mod=readonly", GOWORK="off",
               GOMODCACHE=str(cache() / "go-mod"), GOCACHE=str(cache() / "go-build"),
               GOTELEMETRY="off", CGO_ENABLED="1" if cgo else "0")
    return env


def install_go(modules: str, wanted: dict[str, Entry]) -> None:
    """Builds all wanted programs of one set of modules at once."""
    install(["go"])
    with work_directory(modules) as place:
        wanted = {name: entry for name, entry in wanted.items() if not installed(name, entry)}
        if not wanted:
            return
        (version,) = {entry["version"] for entry in wanted.values()}
        (stamp,) = {entry.get("stamp") for entry in wanted.values()}
        (tags,) = {entry.get("tags", "") for entry in wanted.values()}
        (cgo,) = {entry.get("cgo", False) for entry in wanted.values()}
        with progress(f"{', '.join(wanted)} {version}: building"):
            go = home("go", find_entry("go")) / "bin" / "go"
            flags = f"{LINK_FLAGS} -X {stamp}=v{version}" if stamp else LINK_FLAGS
            run([go, "build", "-trimpath", "-buildvcs=false", "-tags", tags,
                 "-ldflags", flags, "-o", f"{place}/",
                 *(entry["main"] for entry in wanted.values())],
                env=go_environment(cgo), cwd=TOOLS / "components.d" / modules)
            for name, entry in wanted.items():
                made = place / "made" / name
                (made / "bin").mkdir(parents=True)
                (place / Path(entry["main"]).name).rename(made / "bin" / name)
                bring_shared(entry, made)
                publish(name, entry, made, place)


def bring_shared(entry: Entry, made: Path) -> None:
    """Copies the files of the program's module that belong to it."""
    if "share" not in entry:
        return
    go = home("go", find_entry("go")) / "bin" / "go"
    module = run([go, "list", "-f", "{{.Module.Dir}}", entry["main"]], env=go_environment(False),
                 cwd=TOOLS / "components.d" / entry["modules"]).stdout.strip()
    for path in entry["share"]:
        shutil.copytree(Path(module) / path, made / "share" / path)
    run(["chmod", "-R", "u+w", made / "share"])


# --- commands -------------------------------------------------------------------------------------

def install(names: Sequence[str]) -> None:
    module_sets: dict[str, dict[str, Entry]] = {}
    for name in names:
        entry = find_entry(name)
        if installed(name, entry):
            continue
        if entry["kind"] == "wheel":
            install_wheel(name, entry)
        elif entry["kind"] == "deb":
            install_deb(name, entry)
        elif entry["kind"] == "python":
            install_python(name, entry)
        elif entry["kind"] == "maven":
            install_maven(name, entry)
        else:
            module_sets.setdefault(entry["modules"], {})[name] = entry
    for modules, wanted in module_sets.items():
        install_go(modules, wanted)


def print_path(name: str) -> None:
    entry = find_entry(name)
    if not installed(name, entry):
        raise ToolError(f"{name} {entry['version']} is not installed; "
                        f"run: tools/components install {name}")
    print(program(name, entry))


def print_list() -> None:
    for name, entry in read_table().items():
        state = program(name, entry) if installed(name, entry) else "not installed"
        print(f"{name:24} {entry['version']:10} {state}")


def main(argv: list[str]) -> int:
    try:
        if len(argv) > 1 and argv[0] == "install":
            install(argv[1:])
        elif len(argv) > 1 and argv[0] == "path":
            for name in argv[1:]:
                print_path(name)
        elif argv == ["list"]:
            print_list()
        elif argv == ["pin"]:
            log(f"{len(debian_pins.renew(read_table().values()))} packages are pinned")
        else:
            print(__doc__, file=sys.stderr)
            return 2
    except (ToolError, OSError) as failure:
        print(f"components: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
