# SPDX-License-Identifier: Apache-2.0
"""tools/components with a package of our own behind a false apt-get: no network, real locks."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from paddle_tools import components, debian_pins
from paddle_tools.paths import TOOLS

SLOW = 3  # seconds that the false download takes when asked to be slow

APT_GET = """#!/bin/sh
echo x >> "$FAKE/downloads"
touch "$FAKE/started"
[ -e "$FAKE/slow" ] && sleep {slow}
exec cp "$FAKE"/*.deb .
"""
TOOL = "#!/bin/sh\necho tool 3.4.23\n"


class Components(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        self.fake = self.top / "fake"
        self.write(self.fake / "bin/apt-get", APT_GET.format(slow=SLOW))
        self.package(TOOL)
        self.env = {"PATH": f"{self.fake}/bin:/usr/bin:/bin", "FAKE": str(self.fake),
                    "HOME": str(self.top), "PADDLE_OPERATOR_CACHE": str(self.top / "cache")}

    @staticmethod
    def write(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def package(self, tool, files=("usr/bin/etcd",), name="tool.deb", version="1",
                package="tool", architecture="all"):
        root = self.top / "root"
        for file in files:
            self.write(root / file, tool)
        self.write(root / "DEBIAN/control", f"Package: {package}\nVersion: {version}\n"
                   f"Architecture: {architecture}\nMaintainer: tests\nDescription: test\n")
        subprocess.run(["dpkg-deb", "-b", root, self.fake / name], check=True, capture_output=True)

    def start(self, *args):
        return subprocess.Popen([TOOLS / "components", *args], env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def call(self, *args):
        child = self.start(*args)
        out, _ = child.communicate()
        return child.returncode, out

    def wait_for(self, path):
        while not path.exists():
            time.sleep(0.01)

    def downloads(self):
        return (self.fake / "downloads").read_text().count("x")

    def test_a_missing_component_names_the_command_that_installs_it(self):
        code, out = self.call("path", "etcd")
        self.assertEqual(code, 1)
        self.assertIn("tools/components install etcd", out)

    def test_an_unknown_name_lists_the_known_ones(self):
        code, out = self.call("install", "nonsense")
        self.assertEqual(code, 1)
        self.assertIn("kube-apiserver", out)

    def test_what_is_installed_runs_and_is_not_fetched_again(self):
        self.assertEqual(self.call("install", "etcd")[0], 0)
        code, path = self.call("path", "etcd")
        self.assertEqual(code, 0)
        self.assertIn("3.4.23", subprocess.check_output([path.strip()], text=True))
        self.assertEqual(self.call("install", "etcd"), (0, ""))
        self.assertEqual(self.downloads(), 1)

    def test_two_runs_at_once_share_one_build(self):
        (self.fake / "slow").touch()
        first = self.start("install", "etcd")
        self.wait_for(self.fake / "started")
        code, out = self.call("install", "etcd")
        self.assertEqual(code, 0)
        self.assertIn("another run is installing etcd", out)
        self.assertEqual(first.communicate()[0].count("done in"), 1)
        self.assertEqual(self.downloads(), 1)

    def test_a_killed_run_leaves_nothing_that_counts_as_installed(self):
        (self.fake / "slow").touch()
        first = self.start("install", "etcd")
        self.wait_for(self.fake / "started")
        workshop = self.top / "cache/workshop/etcd"
        self.assertTrue(workshop.is_dir())
        first.send_signal(signal.SIGKILL)
        first.communicate()
        self.assertEqual(self.call("path", "etcd")[0], 1)
        (self.fake / "slow").unlink()
        self.assertEqual(self.call("install", "etcd")[0], 0)
        self.assertEqual(self.call("path", "etcd")[0], 0)
        self.assertFalse(workshop.exists())

    def test_another_version_than_the_pinned_one_is_refused(self):
        self.package("#!/bin/sh\necho tool 9.9.9\n")
        code, out = self.call("install", "etcd")
        self.assertEqual(code, 1)
        self.assertIn("9.9.9", out)
        self.assertEqual(self.call("path", "etcd")[0], 1)

    def test_a_package_newer_than_its_pin_is_taken_and_named(self):
        self.package(TOOL, version="3.4.23-99", package="etcd-server", architecture="amd64")
        code, out = self.call("install", "etcd")
        self.assertEqual(code, 0, out)
        self.assertIn("etcd-server 3.4.23-99 is not in debian.sha256", out)

    def test_other_bytes_for_a_pinned_version_and_older_ones_are_refused(self):
        (pin,) = (each for each in debian_pins.load() if each.package == "etcd-server")
        for version, says in ((pin.version, f"{pin.version} has another sha256 than debian.sha256"),
                              ("3.4.23-1", "3.4.23-1 is older than that of debian.sha256")):
            self.package(TOOL, version=version, package="etcd-server", architecture="amd64")
            code, out = self.call("install", "etcd")
            self.assertEqual(code, 1)
            self.assertIn(f"etcd-server {says}", out)
            self.assertEqual(self.call("path", "etcd")[0], 1)

    def test_a_pinned_package_is_taken_without_a_word(self):
        self.package(TOOL, package="etcd-server", architecture="amd64")
        file = self.fake / "tool.deb"
        pin = debian_pins.Pin(hashlib.sha256(file.read_bytes()).hexdigest(), "etcd-server", "1",
                              "amd64")
        self.assertIsNone(debian_pins.check(file, [pin]))
        self.assertIsNotNone(debian_pins.check(file, [pin._replace(architecture="arm64")]))

    def test_every_debian_package_of_the_table_is_pinned(self):
        pinned = {each.package for each in debian_pins.load()}
        wanted = {name for entry in components.read_table().values() if entry["kind"] == "deb"
                  for name in debian_pins.packages_of(entry)}
        self.assertEqual(pinned, wanted)
        for each in debian_pins.load():
            self.assertRegex(each.sha256, r"^[0-9a-f]{64}$")

    def test_several_files_of_a_package_lie_side_by_side(self):
        names = ("containerd", "ctr", "containerd-shim-runc-v2")
        self.package("#!/bin/sh\necho containerd 1.6.20\n", [f"usr/bin/{each}" for each in names])
        self.assertEqual(self.call("install", "containerd")[0], 0)
        code, path = self.call("path", "containerd")
        self.assertEqual((code, Path(path.strip()).name), (0, "containerd"))
        self.assertEqual({each.name for each in Path(path).parent.iterdir()}, set(names))

    def test_a_program_that_does_not_know_its_version_is_known_by_its_package(self):
        files = [f"usr/lib/cni/{each}" for each in ("bridge", "host-local", "portmap", "loopback")]
        for version, code in (("1.0.9-3", 1), ("1.1.1+ds1-3", 0)):
            self.package("#!/bin/sh\necho version unknown\n", files,
                         "containernetworking-plugins_x.deb", version)
            self.assertEqual(self.call("install", "cni-plugins")[0], code, version)

    def test_several_paths_are_one_a_line(self):
        self.assertEqual(self.call("install", "etcd")[0], 0)
        code, out = self.call("path", "etcd", "etcd")
        self.assertEqual((code, len(out.splitlines())), (0, 2))

    def test_a_changed_recipe_is_built_again_in_place(self):
        self.assertEqual(self.call("install", "etcd")[0], 0)
        stamp = self.top / "cache/etcd/3.4.23/.recipe"
        stamp.write_text("of another day")
        self.assertEqual(self.call("path", "etcd")[0], 1)
        self.assertEqual(self.call("install", "etcd")[0], 0)
        self.assertEqual(self.downloads(), 2)
        self.assertEqual(self.call("path", "etcd")[0], 0)


MVN = """#!/bin/sh
for each in "$@"; do
  case $each in -DoutputDirectory=*) to=${each#*=} ;; */pom.xml) pom=$each ;; esac
done
cp "$pom" "$FAKE/pom.xml"
printf %s "$JAR" > "$to/one-1.0.jar"
"""


class Maven(unittest.TestCase):
    """A jar of our own behind a false mvn and a false apt-get, with a table of our own."""

    def install(self, jar, has_maven=True, apt="exit 1"):
        """(exit code, output, the jars, what mvn was told)."""
        with tempfile.TemporaryDirectory() as scratch:
            top = Path(scratch)
            Components.write(top / ("bin" if has_maven else "") / "mvn", MVN)
            Components.write(top / "bin/apt-get", f"#!/bin/sh\n{apt}\n")
            for each in ("setpriv", "env", "sh", "cp", "sync"):  # a machine may have its own mvn
                (top / "bin" / each).symlink_to(shutil.which(each))
            shutil.copy(TOOLS / "components", top / "components")
            shutil.copytree(TOOLS / "paddle_tools", top / "paddle_tools")
            digest = hashlib.sha256(b"a jar").hexdigest()
            (top / "components.toml").write_text(
                '[jars]\nkind = "maven"\nversion = "1.0"\n'
                f'artifacts = {{ "a.group:one:1.0" = "{digest}" }}\n')
            env = {"PATH": f"{top}/bin", "FAKE": str(top), "JAR": jar, "HOME": str(top),
                   "PADDLE_OPERATOR_CACHE": str(top / "cache")}
            done, found = (subprocess.run([top / "components", verb, "jars"], env=env, text=True,
                                          check=False, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT) for verb in ("install", "path"))
            jars = None
            if found.returncode == 0:
                jars = [each.name for each in Path(found.stdout.strip()).iterdir()]
            told = top / "pom.xml"
            return (done.returncode, done.stdout, jars,
                    told.read_text() if told.exists() else "nothing")

    def test_jars_are_asked_for_by_name_and_lie_side_by_side(self):
        code, out, jars, told = self.install("a jar")
        self.assertEqual((code, jars), (0, ["one-1.0.jar"]), out)
        self.assertIn("<groupId>a.group</groupId><artifactId>one</artifactId>"
                      "<version>1.0</version>", told)

    def test_a_jar_with_another_sum_is_refused(self):
        code, out, jars, _ = self.install("another jar")
        self.assertEqual((code, jars), (1, None))
        self.assertIn("one-1.0.jar has another sha256 than components.toml", out)

    def test_a_machine_without_maven_gets_it(self):
        code, out, jars, _ = self.install("a jar", False, 'cp "$FAKE/mvn" "$FAKE/bin/mvn"')
        self.assertEqual((code, jars), (0, ["one-1.0.jar"]), out)

    def test_where_maven_can_not_be_installed_one_sentence_says_so(self):
        code, out, jars, told = self.install("a jar", False)
        self.assertEqual((code, jars, told), (1, None, "nothing"))
        self.assertIn("Java and Maven are missing and could not be installed", out)


class Bootstrap(unittest.TestCase):
    """With false dpkg-query, apt-get and id."""

    def run_with(self, listed, user, apt="exit 0", tools=(), options=()):
        with tempfile.TemporaryDirectory() as top:
            for name, script in {"dpkg-query": f"printf '{listed}'", "id": f"echo {user}",
                                 "apt-get": f'echo "apt-get $*"; {apt}'}.items():
                Components.write(Path(top) / name, f"#!/bin/sh\n{script}\n")
            for name in ("bash", "sed", "sort", "comm", "dirname", "env", "printf", *tools):
                (Path(top) / name).symlink_to(f"/usr/bin/{name}")
            done = subprocess.run([f"{top}/bash", TOOLS / "bootstrap", *options], env={"PATH": top},
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def every_package(self):
        lines = (TOOLS / "apt-packages.txt").read_text().splitlines()
        return [line for line in lines if line and not line.startswith("#")]

    def test_nothing_missing_is_nothing_to_do(self):
        listed = "".join(f"installed {each}\\n" for each in self.every_package())
        self.assertEqual(self.run_with(listed, 0), (0, ""))

    def test_only_what_is_missing_is_installed(self):
        absent = "libssl-dev"
        listed = "".join(f"installed {each}\\n" for each in self.every_package() if each != absent)
        code, out = self.run_with(listed + f"config-files {absent}\\n", 0)
        self.assertEqual(code, 0, out)
        self.assertIn("install -y --no-install-recommends libssl-dev\n", out)

    def test_programs_alone_need_no_second_compiler(self):
        code, out = self.run_with("", 0, options=["--programs"])
        self.assertEqual(code, 0, out)
        self.assertIn(" g++ ", out)
        self.assertIn(" libgrpc++-dev ", out)
        self.assertNotIn("clang", out)
        self.assertNotIn("gtest", out)

    def test_the_quickstart_speaks_no_grpc(self):
        code, out = self.run_with("", 0, options=["--quickstart"])
        self.assertEqual(code, 0, out)
        self.assertIn(" g++ ", out)
        self.assertNotIn("grpc", out)
        self.assertNotIn("clang", out)

    def test_neither_root_nor_sudo_is_one_sentence(self):
        code, out = self.run_with("", 1000)
        self.assertEqual(code, 1)
        self.assertIn("need root or sudo", out)
        self.assertNotIn("apt-get install", out)

    def test_a_refusal_of_apt_is_a_failure_after_fresh_lists(self):
        code, out = self.run_with("", 0, apt="exit 100")
        self.assertNotEqual(code, 0)
        self.assertIn("update", out)


class OtherKubernetes(unittest.TestCase):
    """PADDLE_KUBERNETES, which `tools/e2e --kubernetes` sets."""

    def listed(self, **more):
        done = subprocess.run([TOOLS / "components", "list"], check=False, text=True,
                              capture_output=True,
                              env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", **more})
        return {line.split()[0]: line.split()[1] for line in done.stdout.splitlines()}, done.stderr

    def test_all_programs_of_kubernetes_have_that_version_and_others_their_own(self):
        usual, _ = self.listed()
        for folder in (TOOLS / "components.d").glob("kubernetes-*"):
            version = re.findall(r"require k8s\.io/kubernetes v(\S+)",
                                 (folder / "go.mod").read_text())[0]
            self.assertTrue(version.startswith(folder.name.removeprefix("kubernetes-") + "."))
            found, _ = self.listed(PADDLE_KUBERNETES=version)
            changed = {name for name in usual if found[name] != usual[name]}
            self.assertEqual(changed, {"kube-apiserver", "kube-controller-manager",
                                       "kube-scheduler", "kube-proxy", "kubelet", "kubectl"})
            self.assertEqual({found[name] for name in changed}, {version})

    def test_a_version_without_modules_is_refused_with_those_that_there_are(self):
        found, error = self.listed(PADDLE_KUBERNETES="1.2.3")
        self.assertEqual(found, {})
        self.assertIn("there are no modules of Kubernetes 1.2.3; there are those of 1.30", error)


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
