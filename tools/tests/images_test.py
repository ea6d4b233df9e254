# SPDX-License-Identifier: Apache-2.0
"""Images: the libraries of a program, an archive that others load, the same bytes twice."""
import hashlib
import json
import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from paddle_tools.errors import ToolError
from paddle_tools.images import archive, bundles, definitions, elf, go_modules, names, sbom
from paddle_tools.images.builder import ImageBuilder
from paddle_tools.images.content import Content, Directory, File, Link
from paddle_tools.paths import TOOLS


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)


class Libraries(Scratch):
    def test_are_those_that_the_loader_brings_in(self):
        program = "/usr/bin/git"
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        loaded = dict(re.findall(r"(\S+) => (\S+)", listed))
        found = elf.Finder().closure([program])
        self.assertEqual(set(found), set(loaded))
        for name, path in found.items():
            self.assertEqual(path.resolve(), Path(loaded[name]).resolve())

    def test_of_a_text_are_none(self):
        (self.top / "script").write_text("#!/bin/sh\n")
        self.assertIsNone(elf.read(self.top / "script"))
        self.assertEqual(elf.Finder().closure([self.top / "script"]), {})

    def test_that_are_missing_are_named_with_who_needs_them(self):
        copy = self.needing_what_is_nowhere()
        with self.assertRaisesRegex(ToolError, r"program needs libq\.so\.6, which is not"):
            elf.Finder().closure([copy])
        # A mounted directory may have plug-ins that cannot work here.
        self.assertNotIn("libq.so.6", elf.Finder().closure([copy], [self.top.resolve()]))

    def test_are_found_where_the_program_says(self):
        (self.top / "lib").mkdir()
        (self.top / "main.c").write_text("int f(void); int main(void) { return f(); }\n")
        (self.top / "f.c").write_text("int f(void) { return 0; }\n")
        for line in ("gcc -shared -o lib/libf.so f.c",
                     "gcc -o main main.c -Llib -lf -Wl,-rpath,$ORIGIN/lib"):
            subprocess.run(line.split(), cwd=self.top, check=True)
        found = elf.Finder().closure([self.top / "main"])
        self.assertEqual(found["libf.so"].resolve(), (self.top / "lib/libf.so").resolve())

    def needing_what_is_nowhere(self):
        copy = self.top / "program"
        copy.write_bytes(Path("/usr/bin/git").read_bytes().replace(b"libc.so.6", b"libq.so.6"))
        return copy


class Contents(Scratch):
    def test_land_in_usr_however_they_are_named(self):
        content = Content()
        content.file("/bin/tool", b"x", 0o755)
        content.link("/sbin/other", "/bin/tool")
        self.assertEqual(content.entries["/usr/bin/tool"], File(b"x", 0o755))
        self.assertEqual(content.entries["/usr/sbin/other"], Link("/bin/tool"))
        self.assertEqual(content.entries["/bin"], Link("usr/bin"))

    def test_have_every_directory_on_the_way(self):
        content = Content()
        content.file("/a/b/c", b"")
        content.directory("/tmp", 0o1777)
        content.file("/tmp/x", b"")
        self.assertEqual(content.entries["/a/b"], Directory(0o755))
        self.assertEqual(content.entries["/tmp"], Directory(0o1777))

    def test_need_absolute_paths(self):
        with self.assertRaisesRegex(ToolError, "absolute"):
            Content().file("tool", b"")

    def test_bring_the_loader_and_the_libraries_of_a_program(self):
        content = Content()
        content.program("/git", "/usr/bin/git")
        content.libraries()
        loader = elf.read("/usr/bin/git").interpreter
        self.assertIn(f"/usr{loader}", content.entries)
        libc = next(path for path in content.entries if path.endswith("/libc.so.6"))
        self.assertTrue(libc.startswith("/usr/lib/"))

    def test_of_a_directory_that_is_mounted_later_are_not_copied(self):
        (self.top / "plugin.so").write_bytes(Path("/usr/bin/git").read_bytes())
        content = Content()
        content.needed_by(self.top)
        content.libraries()
        names = {os.path.basename(path) for path in content.entries}
        self.assertIn("libz.so.1", names)
        self.assertNotIn("plugin.so", names)

    def test_trust_only_what_debian_ships(self):
        content = Content()
        bundles.certificates(content, None)
        text = content.entries["/etc/ssl/certs/ca-certificates.crt"].source.decode()
        shipped = len(list(bundles.CERTIFICATES.glob("*.crt")))
        self.assertEqual(text.count("-----BEGIN CERTIFICATE-----"), shipped)


class Archives(Scratch):
    ENTRY = definitions.check({"demo": {"tag": "v{version}", "entrypoint": ["/tool"]}},
                              "1.2.3")["demo"]

    def content(self):
        content = Content()
        bundles.base(content, None)
        content.file("/tool", b"\x7fELF", 0o755)
        content.link("/usr/bin/tool", "/tool")
        return content

    def test_are_the_same_bytes_twice(self):
        archive.write(self.content(), self.ENTRY, self.top / "a.tar")
        archive.write(self.content(), self.ENTRY, self.top / "b.tar")
        self.assertEqual((self.top / "a.tar").read_bytes(), (self.top / "b.tar").read_bytes())
        self.assertEqual(sorted(each.name for each in self.top.iterdir()), ["a.tar", "b.tar"])

    def test_name_their_parts_by_digest(self):
        archive.write(self.content(), self.ENTRY, self.top / "a.tar")
        with tarfile.open(self.top / "a.tar") as tar:
            (manifest,) = json.load(tar.extractfile("manifest.json"))
            config = tar.extractfile(manifest["Config"]).read()
            (layer_name,) = manifest["Layers"]
            layer = tar.extractfile(layer_name).read()
        self.assertEqual(manifest["RepoTags"], ["demo:v1.2.3"])
        self.assertEqual(manifest["Config"], f"{hashlib.sha256(config).hexdigest()}.json")
        settings = json.loads(config)
        self.assertEqual(settings["rootfs"]["diff_ids"],
                         [f"sha256:{hashlib.sha256(layer).hexdigest()}"])
        self.assertEqual(settings["config"]["User"], "65532:65532")
        self.assertEqual(settings["config"]["Entrypoint"], ["/tool"])

    def test_hold_no_time_and_no_owner_but_root(self):
        archive.write(self.content(), self.ENTRY, self.top / "a.tar")
        with tarfile.open(self.top / "a.tar") as tar:
            layer = next(name for name in tar.getnames() if name.endswith("layer.tar"))
            with tarfile.open(fileobj=tar.extractfile(layer)) as inner:
                members = inner.getmembers()
        self.assertEqual({(each.uid, each.gid, each.mtime) for each in members}, {(0, 0, 0)})
        self.assertEqual({each.name: each.mode for each in members}["tmp"], 0o1777)
        names = [each.name for each in members]
        self.assertEqual(names, sorted(names))

    def test_and_a_directory_hold_the_same(self):
        archive.unpack(self.content(), self.top / "root")
        self.assertEqual((self.top / "root/tool").read_bytes(), b"\x7fELF")
        self.assertEqual(os.readlink(self.top / "root/usr/bin/tool"), "/tool")
        self.assertEqual((self.top / "root/tmp").stat().st_mode & 0o7777, 0o1777)
        with self.assertRaisesRegex(ToolError, "not empty"):
            archive.unpack(self.content(), self.top / "root")


class BillOfMaterials(Scratch):
    def made(self):
        entry = {**Archives.ENTRY, "programs": {"/tool": "build:tool"}}
        content = Content()
        bundles.base(content, None)
        bundles.certificates(content, None)
        (self.top / "tool").write_bytes(Path("/usr/bin/git").read_bytes())
        content.program("/tool", self.top / "tool")
        content.libraries()
        archive.write(content, entry, self.top / "demo.tar")
        return sbom.write(content, entry, "1.2.3", self.top / "demo.tar")

    def test_names_the_image_our_programs_and_the_packages_of_debian(self):
        document, _ = self.made()
        told = json.loads(document.read_text())
        self.assertEqual(told["spdxVersion"], "SPDX-2.3")
        packages = {each["name"]: each for each in told["packages"]}
        for name in ("demo", "tool", "ca-certificates", "zlib1g", "libc6"):
            self.assertIn(name, packages)
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "zlib1g"], check=True,
                                 capture_output=True, text=True).stdout
        self.assertEqual(packages["zlib1g"]["versionInfo"], version)
        self.assertIn("pkg:deb/debian/zlib1g@",
                      packages["zlib1g"]["externalRefs"][0]["referenceLocator"])
        digest = hashlib.sha256((self.top / "tool").read_bytes()).hexdigest()
        self.assertEqual(packages["tool"]["checksums"][0]["checksumValue"], digest)
        ids = [each["SPDXID"] for each in told["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        for each in told["relationships"]:
            self.assertIn(each["relatedSpdxElement"], ids)

    def test_is_the_same_bytes_twice_and_has_its_checksum_beside_it(self):
        before = [path.read_bytes() for path in self.made()]
        self.assertEqual(before, [path.read_bytes() for path in self.made()])
        subprocess.run(["sha256sum", "--check", "--strict", "demo.sha256"], cwd=self.top,
                       check=True, capture_output=True)
        (self.top / "demo.tar").write_bytes(b"another image")
        self.assertNotEqual(subprocess.run(["sha256sum", "--check", "demo.sha256"], cwd=self.top,
                                           check=False, capture_output=True).returncode, 0)

    def test_refuses_a_file_that_nobody_delivers(self):
        content = Content()
        (self.top / "strange").write_text("?")
        content.file("/strange", self.top / "strange")
        with self.assertRaisesRegex(ToolError, "strange is of no Debian package"):
            sbom.describe(content, Archives.ENTRY, "1", "0")

    def test_has_the_modules_of_programs_in_go(self):
        modules = ("path\tdemo\nmod\tdemo\t(devel)\ndep\tgithub.com/a/b\tv1.2.3\th1:x\n"
                   "dep\tgithub.com/c/d\tv2.0.0\th1:y\n=>\tgithub.com/e/d\tv2.0.1\th1:z\n")
        marked = b"m" * 16 + modules.encode() + b"e" * 16
        size = bytes([len(marked) & 0x7F | 0x80, len(marked) >> 7])
        head = go_modules.MAGIC + bytes([8, 2])
        data = b"\x7fELF" + bytes(60) + head + bytes(32 - len(head))
        (self.top / "go").write_bytes(data + b"\x08go1.26.6" + size + marked)
        self.assertEqual(go_modules.read(self.top / "go"),
                         [("std", "1.26.6"), ("github.com/a/b", "v1.2.3"),
                          ("github.com/e/d", "v2.0.1")])
        self.assertEqual(go_modules.read("/usr/bin/git"), [])


class Twice(Scratch):
    """An image of each bundle that needs no component, a program and files of two checkouts."""

    NAMES = ("b/c.txt", "a.txt", "b/a.txt")
    ENTRY = definitions.check({"demo": {
        "bundles": ["base", "certificates", "zones"], "env": {"B": "2", "A": "1"},
        "programs": {"/usr/bin/git": "system:/usr/bin/git"},
        "files": {f"/data/{name}": f"file:data/{name}" for name in NAMES},
        "links": {"/usr/bin/tool": "git"}, "directories": {"/cache": "1777"}}}, "1.2.3")["demo"]

    def image(self, place, names, mask, day, more=""):
        top = self.top / place
        before = os.umask(mask)
        try:
            for name in names:
                (top / "data" / name).parent.mkdir(parents=True, exist_ok=True)
                (top / "data" / name).write_text(name + more)
                os.utime(top / "data" / name, (day, day))
        finally:
            os.umask(before)
        (top / "scratch").mkdir()
        content = ImageBuilder(top, top / "scratch").content(self.ENTRY)
        archive.write(content, self.ENTRY, top / "demo.tar")
        return [top / "demo.tar", *sbom.write(content, self.ENTRY, "1.2.3", top / "demo.tar")]

    def test_built_twice_it_is_the_same_bytes_with_its_bill_and_checksums(self):
        one = self.image("one", self.NAMES, 0o022, 10**9)
        other = self.image("another/place", self.NAMES[::-1], 0o002, 2 * 10**9)
        self.assertEqual([path.name for path in one],
                         ["demo.tar", "demo.spdx.json", "demo.sha256"])
        for first, second in zip(one, other, strict=True):
            self.assertEqual(sum_of(first), sum_of(second), first.name)
        changed = self.image("changed", self.NAMES, 0o022, 10**9, "!")
        self.assertNotEqual(sum_of(changed[0]), sum_of(one[0]))


def sum_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Table(unittest.TestCase):
    def test_of_this_project_is_sound(self):
        entries = definitions.load(TOOLS.parent)
        self.assertEqual(entries["paddle-operator"]["entrypoint"], ["/manager"])
        self.assertEqual(entries["paddle-operator"]["user"], "65532:65532")
        self.assertIn(f"v{definitions.version(TOOLS.parent)}", entries["paddle-cache"]["reference"])

    def test_refuses_what_means_nothing(self):
        for entry, says in (({"entry": []}, "an unknown key 'entry'"),
                            ({"bundles": ["perl"]}, "'perl'"),
                            ({"programs": {"/a": "/usr/bin/a"}}, "begin it with build:")):
            with self.assertRaisesRegex(ToolError, says):
                definitions.check({"demo": entry}, "1")

    def test_agrees_with_the_containerfiles_and_the_manifests(self):
        top = TOOLS.parent
        entries = definitions.load(top)
        stages = set()
        for path in sorted((top / "deploy" / "images").glob("*/Containerfile")):
            text, entry = path.read_text(), entries[path.parent.name]
            self.assertIn(f"tools/images root {path.parent.name} /image", text)
            self.assertIn(f"-t {entry['reference']} ", text)
            self.assertIn(f"ENTRYPOINT {json.dumps(entry['entrypoint'])}\n", text)
            self.assertIn(f"USER {entry['user']}\n", text)
            self.assertEqual(entry["env"], re.findall(r"^ENV (.*)$", text, re.M))
            self.assertEqual(entry["labels"],
                             dict(re.findall(r'(org\.opencontainers\.[a-z.]+)="(.*?)"', text)))
            bases = re.findall(r"^(?:ARG BASE=|FROM )(\S+)", text, re.M)
            self.assertEqual(bases[1:], ["${BASE}", "scratch"])
            self.assertEqual(bases[0], names.load(top)[names.BASE].reference)
            stages.add(text[text.index("ARG BASE"):text.index("RUN tools/images")])
        self.assertEqual(len(stages), 1, "one build stage serves all of them")
        for file, used in {"extensions/controllers.yaml": ("paddle-operator", "paddle-cache"),
                           "csi/juicefs.yaml": ("juicefs-csi-driver", "juicefs-mount",
                                                "paddle-cache")}.items():
            manifests = (top / "deploy" / file).read_text()
            for name in used:
                self.assertIn(f": {entries[name]['reference']}\n", manifests)

    def test_images_are_named_in_one_place(self):
        top = TOOLS.parent
        named, entries = names.load(top), definitions.load(top)
        self.assertRegex(named[names.BASE].reference,
                         r"^docker\.io/library/debian:12@sha256:[0-9a-f]{64}$")
        for name in named:
            if name != names.BASE:
                self.assertEqual(entries[name]["tag"], named[name].tag)
        for name in ("paddle-operator", "paddle-cache", "paddle-cache-juicefs"):
            self.assertEqual(named[name].tag, f"v{definitions.version(top)}")
        self.assertIn(f"\nIMG ?= {named['paddle-operator'].reference}\n",
                      (top / "Makefile").read_text())
        (pinned,) = re.findall(r"^require github.com/juicedata/juicefs-csi-driver (\S+)$",
                               (top / "tools/components.d/juicefs-csi-driver/go.mod").read_text(),
                               re.M)
        self.assertEqual(named["juicefs-csi-driver"].tag, pinned)

    def test_an_image_that_is_named_twice_or_without_a_tag_is_refused(self):
        for entry in ("- name: a\n  newTag: v1\n- name: a\n  newTag: v2\n", "- name: a\n"):
            with tempfile.TemporaryDirectory() as top:
                (Path(top) / names.FILE).parent.mkdir(parents=True)
                (Path(top) / names.FILE).write_text(f"kind: Component\nimages:\n{entry}")
                with self.assertRaisesRegex(ToolError, "'a' is named twice, or has no newTag"):
                    names.load(Path(top))


if __name__ == "__main__":
    unittest.main()
