# SPDX-License-Identifier: Apache-2.0
"""The Containerfiles give what tools/images gives: the same files, programs and settings."""
import json
import stat
import tarfile
import tempfile

from paddle_tools.e2e.buildah import Buildah, files_below, sum_of
from paddle_tools.e2e.cluster import TOP, expect

MAKES_CLUSTERS = True
COMPONENTS = ("buildah", "mmdebstrap", "juicefs")
IMAGES = ("paddle-operator", "paddle-cache", "paddle-cache-juicefs")
OURS = {"paddle-operator": "/manager", "paddle-cache": "/usr/bin/paddle-cache",
        "paddle-cache-juicefs": "/usr/local/bin/juicefs"}
KINDS = {tarfile.DIRTYPE: stat.S_IFDIR, tarfile.SYMTYPE: stat.S_IFLNK,
         tarfile.REGTYPE: stat.S_IFREG}
# What Debian renews: its files are those of the day on which a machine was last brought up to date.
RENEWED = ("/usr/share/zoneinfo/", "/etc/ssl/certs/", "/usr/lib/x86_64-linux-gnu/",
           "/usr/lib/aarch64-linux-gnu/")


def run(scenario_run):
    with tempfile.TemporaryDirectory(prefix="paddle-containerfiles.") as top:
        buildah = Buildah(top)
        try:
            with scenario_run.step("a Debian 12 to build on, of packages alone"):
                buildah.make_base()
            for name in IMAGES:
                builds(scenario_run, buildah, name)
                agrees_with_this_machine(scenario_run, buildah, name)
                is_taken(scenario_run, buildah, name)
        finally:
            buildah.end()


def builds(scenario_run, buildah, name):
    """On the same Debian, the two ways differ in nothing."""
    with scenario_run.step(f"{name}: its Containerfile builds"):
        buildah.build(f"deploy/images/{name}/Containerfile", name)
    with scenario_run.step(f"{name}: and gives what tools/images gives there"):
        buildah.build(f"deploy/images/{name}/Containerfile", f"{name}-stage", "--target", "build")
        box = buildah.start(f"{name}-stage")
        buildah.run(box, "tools/images", "build", name)
        with buildah.mounted(box) as top:
            files, settings = read_archive(top / f"source/build/images/{name}.tar")
        buildah("rm", box)
        same(name, files_of(buildah, name), files)
        made = buildah.settings(name)
        made["Labels"].pop("io.buildah.version", None)
        expect(made == settings, f"{name}: settings {made}, and those of tools/images: {settings}")
        scenario_run.note(f"{len(files)} files, directories and links")


def agrees_with_this_machine(scenario_run, buildah, name):
    """Here packages may be older: their contents may differ, and the list of time zones."""
    with scenario_run.step(f"{name}: the same as built on this machine"):
        theirs, (ours, _) = files_of(buildah, name), read_archive(TOP / f"build/images/{name}.tar")
        same(name, {path: each for path, each in theirs.items() if not path.startswith(RENEWED)},
             {path: each for path, each in ours.items() if not path.startswith(RENEWED)})
        same(name, *({path: each[:3] for path, each in files.items()
                      if path.startswith("/usr/lib/")} for files in (theirs, ours)))
        differ = [path for path in theirs if path in ours and theirs[path] != ours[path]]
        scenario_run.note(f"{OURS[name]} is the same byte for byte; of another day are "
                          f"{len(differ)} files of Debian's, such as "
                          f"{', '.join(differ[-3:]) or 'none'}")


def is_taken(scenario_run, buildah, name):
    with scenario_run.step(f"{name}: the archive of tools/images is taken by others, and runs"):
        box = buildah.start(buildah.pull(TOP / f"build/images/{name}.tar"))
        said = buildah.run(box, OURS[name], "--help")
        buildah("rm", box)
        expect("Usage" in said or "USAGE" in said, f"{OURS[name]} --help says: {said[:300]}")


def files_of(buildah, image):
    box = buildah.start(image)
    try:
        with buildah.mounted(box) as top:
            return files_below(top)
    finally:
        buildah("rm", box)


def read_archive(path):
    """(files, settings) of a docker archive, as files_below() has them."""
    files = {}
    with tarfile.open(path) as archive:
        (manifest,) = json.load(archive.extractfile("manifest.json"))
        settings = json.load(archive.extractfile(manifest["Config"]))["config"]
        with tarfile.open(fileobj=archive.extractfile(manifest["Layers"][0])) as layer:
            for each in layer:
                what = each.linkname
                if each.isreg():
                    what = sum_of(layer.extractfile(each).read())
                files[f"/{each.name}"] = (KINDS[each.type], each.mode, (each.uid, each.gid), what)
    return files, settings


def same(name, theirs, ours):
    only = {"the Containerfile": sorted(set(theirs) - set(ours)),
            "tools/images": sorted(set(ours) - set(theirs))}
    for who, paths in only.items():
        expect(not paths, f"{name}: only {who} has {', '.join(paths[:5])} ({len(paths)} in all)")
    differ = [f"{path} {theirs[path]} and {ours[path]}" for path in ours
              if theirs[path] != ours[path]]
    expect(not differ, f"{name}: {len(differ)} differ: {'; '.join(differ[:3])}")
