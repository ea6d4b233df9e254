# SPDX-License-Identifier: Apache-2.0
"""The parts of tools/testbed that need no cluster: addresses, configurations, the lock, the images.
test/e2e/bed_*.py show the rest."""
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from paddle_tools.errors import ToolError
from paddle_tools.paths import TOOLS
from paddle_tools.testbed import (
    cgroups,
    configs,
    control_socket,
    kwok,
    layout,
    mounts,
    node_images,
    optional_parts,
    pki,
    supervisor,
    up,
    verbs,
)
from paddle_tools.testbed import process as run
from paddle_tools.testbed.layout import Layout


class Words(unittest.TestCase):
    def test_the_first_free_address_is_taken_and_wider_networks_do_not_matter(self):
        seen = ["127.0.0.1", "10.89.0.1", "10.89.2.0/30", "10.0.0.0/8", "default"]
        self.assertEqual(layout.free_subnet(seen), 1)
        self.assertEqual(layout.free_subnet(["10.189.0.1", "10.8.9.1"]), 0)

    def test_no_free_address_says_how_to_see_who_has_them(self):
        with self.assertRaisesRegex(ToolError, "testbed list"):
            layout.free_subnet([f"10.89.{each}.1" for each in range(256)])

    def test_names_that_paths_and_links_could_not_have_are_refused(self):
        for name in ("bed", "a", "e2e-2"):
            self.assertEqual(layout.check_name(name), name)
        for name in ("", "..", "a/b", "Bed", "-a", "a-", "2a", "a" * 21):
            with self.assertRaises(ToolError, msg=name):
                layout.check_name(name)

    def test_a_node_is_a_number_or_a_name_of_this_cluster(self):
        self.assertEqual(layout.node_number("2", 3), 2)
        self.assertEqual(layout.node_number("node3", 3), 3)
        for word in ("0", "4", "node", "host", "nodenode1", "-1"):
            with self.assertRaises(ToolError, msg=word):
                layout.node_number(word, 3)

    def test_optional_parts_are_known_and_only_kwok_takes_a_number(self):
        self.assertEqual(layout.parse_parts("redis,kwok=100"), {"redis": "", "kwok": "100"})
        self.assertEqual(layout.parse_parts("kwok"), {"kwok": str(layout.KWOK_NODES)})
        for text in ("ceph", "redis=2", "kwok=many"):
            with self.assertRaises(ToolError, msg=text):
                layout.parse_parts(text)

    def test_kubelets_may_have_another_directory_that_is_each_nodes_own(self):
        bed, _ = verbs.parse_up_arguments("t", ["--kubelet-dir", "/var/data/kubelet"])
        self.assertIn("--root-dir=/var/data/kubelet", configs.kubelet_flags(bed, 1))
        self.assertNotIn("/var/lib/kubelet", json.dumps(configs.kubelet(bed, 1)))
        for path in ("/data/kubelet", "/var", "/var/", "/var/../etc", "/var/a:b", "var/kubelet"):
            with self.assertRaises(ToolError, msg=path):
                layout.check_kubelet_directory(path)

    def test_usage_errors_are_told_apart_from_failures(self):
        for argv in ([], ["nonsense"], ["up", "--nodes", "0"], ["up", "--with"], ["exec", "node1"],
                     ["node-kill"], ["down", "now"], ["--name"]):
            done = subprocess.run([TOOLS / "testbed", *argv], check=False, capture_output=True)
            self.assertEqual(done.returncode, 2, argv)
            self.assertIn(b"node-start N", done.stderr)

    def test_a_verb_for_a_cluster_that_is_not_there_says_how_to_start_it(self):
        with self.assertRaisesRegex(ToolError, "tools/testbed --name no-such up"):
            verbs.main(["--name", "no-such", "status"], "")


class Configurations(unittest.TestCase):
    def setUp(self):
        self.bed = Layout("t", 3, 7, parts={"kwok": "10"})

    def test_everything_that_up_starts_is_pinned(self):
        with open(TOOLS / "components.toml", "rb") as file:
            pinned = tomllib.load(file)
        wanted = {*up.PROGRAMS,
                  *(name for names in optional_parts.PROGRAMS.values() for name in names)}
        self.assertEqual(wanted - set(pinned), set())
        self.assertEqual(set(layout.PARTS) - set(optional_parts.START), {"juicefs", "ipv6"})

    def test_no_two_nodes_share_a_control_group_a_subnet_or_a_certificate(self):
        kubelets = [configs.kubelet(self.bed, each) for each in self.bed.node_numbers()]
        for field in ("cgroupRoot", "tlsCertFile"):
            self.assertEqual(len({each[field] for each in kubelets}), 3, field)
        subnets = {configs.cni(self.bed, each)["plugins"][0]["ipam"]["ranges"][0][0]["subnet"]
                   for each in self.bed.node_numbers()}
        self.assertEqual(len(subnets), 3)

    def test_kubelets_let_the_api_server_decide(self):
        kubelet = configs.kubelet(self.bed, 1)
        self.assertFalse(kubelet["authentication"]["anonymous"]["enabled"])
        self.assertTrue(kubelet["authentication"]["webhook"]["enabled"])
        self.assertEqual(kubelet["authorization"]["mode"], "Webhook")

    def test_false_nodes_get_more_time_before_they_count_as_lost(self):
        def grace(bed):
            return next(each for each in configs.controller_manager(bed) if "grace" in each)
        self.assertNotEqual(grace(self.bed), grace(Layout("t")))

    def test_the_server_certificate_names_its_address_outside(self):
        names = pki.identities(self.bed)["apiserver"][2]
        self.assertIn("10.89.7.2", names)
        self.assertEqual(pki.alternatives(["a.b", "10.0.0.1", "fd00::1"]),
                         "DNS:a.b,IP:10.0.0.1,IP:fd00::1")

    def test_with_ipv6_its_addresses_come_first(self):
        bed = Layout("t", parts={"ipv6": ""})
        self.assertEqual(bed.node_addresses(2), ["fd00:88::c", "10.88.0.12"])
        ranges = configs.cni(bed, 2)["plugins"][0]["ipam"]["ranges"]
        self.assertEqual([each[0]["subnet"] for each in ranges],
                         ["fd00:245:2::/64", "10.245.2.0/24"])
        self.assertIn("--advertise-address=fd00:88::1", configs.apiserver(bed))
        self.assertIn("--advertise-address=10.88.0.1", configs.apiserver(self.bed))

    def test_what_enforces_policies_neither_routes_nor_serves_services(self):
        flags = configs.policy_flags(self.bed, 2)
        for each in ("--run-router=false", "--run-service-proxy=false", "--run-firewall=true",
                     "--hostname-override=node2", "--enable-ipv6=false"):
            self.assertIn(each, flags)
        both = configs.policy_flags(Layout("t", parts={"ipv6": "", "policies": ""}), 1)
        self.assertIn("--service-cluster-ip-range=10.97.0.0/16,fd00:97::/112", both)

    def test_nodes_are_members_of_the_group_that_the_api_server_limits(self):
        name, group, addresses = pki.identities(self.bed)["node2"]
        self.assertEqual((name, group), ("system:node:node2", "system:nodes"))
        self.assertIn("10.88.0.12", addresses)

    def test_a_kubeconfig_needs_no_other_file(self):
        made = json.loads(pki.kubeconfig("https://x", b"ca", b"certificate", b"key"))
        self.assertEqual(made["users"][0]["user"]["client-key-data"], "a2V5")
        self.assertNotIn("/", json.dumps(made["users"]))

    def test_kwok_gets_stages_and_every_parallelism(self):
        documents = kwok.configuration(["kind: Stage\n"]).split("\n---\n")
        self.assertEqual(len(documents), 5)
        self.assertNotIn(0, json.loads(documents[0])["options"].values())
        self.assertTrue(kwok.node(3)["spec"]["taints"])

    def test_a_false_pod_that_waits_is_not_made_ready_at_once(self):
        stock = "spec:\n  selector:\n    matchExpressions:\n    - key: x\n"
        text = kwok.ready_stage(stock)
        self.assertIn(f'annotations[\\"{kwok.INIT_UNTIL}\\"]", "operator": "DoesNotExist"}}', text)
        self.assertTrue(text.endswith("    - key: x\n"))
        with self.assertRaises(ToolError):
            kwok.ready_stage("spec: {}\n")

    def test_nothing_of_the_callers_environment_reaches_the_cluster(self):
        with mock.patch.dict(os.environ, {"AWS_CA_BUNDLE": "x", "HTTPS_PROXY": "y"}):
            self.assertEqual(set(run.environment()), {"PATH", "HOME", "LC_ALL", "KUBECACHEDIR"})

    def test_the_layout_survives_its_file(self):
        with tempfile.TemporaryDirectory() as top, mock.patch.object(layout, "BASE", Path(top)):
            self.bed.state.mkdir()
            self.bed.save()
            self.assertEqual(layout.load(self.bed.state), self.bed)


class Machine(unittest.TestCase):
    def test_foreign_mounts_are_dropped_but_never_what_holds_something_needed(self):
        table = "\n".join(f"1 1 0:1 / {point} rw - {kind} x rw" for point, kind in (
            ("/", "ext4"), ("/proc", "proc"), ("/tmp", "tmpfs"), ("/home/a/photos", "fuse.sshfs"),
            ("/run/netns/x", "nsfs"), ("/tmp/a\\040b", "ext4"), ("/mnt/tree", "fuse.sshfs")))
        needed = [Path("/tmp/paddle-testbed/t"), Path("/mnt/tree/tools/testbed")]
        self.assertEqual(mounts.mounts_to_drop(table, needed),
                         ["/tmp/a b", "/run/netns/x", "/home/a/photos"])

    def test_hierarchies_of_version_1_and_2_are_told_apart(self):
        with tempfile.TemporaryDirectory() as scratch:
            top = Path(scratch).resolve()
            for name in ("memory", "unified"):
                (top / name).mkdir()
                (top / name / "cgroup.procs").touch()
            (top / "mem").symlink_to("memory")
            self.assertEqual(cgroups.hierarchies(top), [top / "memory", top / "unified"])
            (top / "cgroup.controllers").touch()
            self.assertEqual(cgroups.hierarchies(top), [top])

    def test_the_images_are_the_same_bytes_each_time(self):
        with tempfile.TemporaryDirectory() as top:
            busybox = Path(top) / "busybox"
            busybox.write_text("#!/bin/sh\nprintf 'sh\\nbusybox\\nls\\n'\n")
            busybox.chmod(0o755)
            made = []
            for name in ("a", "b"):
                node_images.write(Path(top) / name, busybox)
                made.append((Path(top) / name).read_bytes())
            self.assertEqual(*made)
            with tarfile.open(fileobj=io.BytesIO(made[0])) as archive:
                manifest = json.load(archive.extractfile("manifest.json"))
                tags = [tag for each in manifest for tag in each["RepoTags"]]
                self.assertEqual(tags, [layout.PAUSE_IMAGE, layout.BUSYBOX_IMAGE])
                layer = archive.extractfile(manifest[0]["Layers"][0]).read()
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                self.assertEqual(archive.getmember("bin/ls").linkname, "busybox")
                self.assertTrue(archive.getmember("bin/busybox").isfile())


class Keeping(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.base = Path(scratch.name) / "base"
        for module in (layout, supervisor):
            patched = mock.patch.object(module, "BASE", self.base)
            patched.start()
            self.addCleanup(patched.stop)

    def test_one_has_the_lock_until_it_ends(self):
        first = supervisor.lock("t")
        self.assertIsNone(supervisor.lock("t"))
        self.assertIsNotNone(other := supervisor.lock("u"))
        os.close(other)
        os.close(first)
        again = supervisor.lock("t")
        self.assertIsNotNone(again)
        os.close(again)

    def test_a_lock_on_a_removed_file_is_none(self):
        first = supervisor.lock("t")
        real_open = os.open

        def open_then_lose(path, flags, mode=0o777):
            """The owner forgets the cluster between our open and our lock."""
            descriptor = real_open(path, flags, mode)
            if opened == []:
                supervisor.remove_lock("t")
                os.close(first)
            opened.append(descriptor)
            return descriptor
        opened = []
        with mock.patch.object(os, "open", open_then_lose):
            second = supervisor.lock("t")
        self.assertEqual(len(opened), 2)
        self.assertIsNone(supervisor.lock("t"))
        os.close(second)

    def test_a_directory_of_somebody_else_is_refused(self):
        self.base.mkdir()
        self.base.chmod(0o777)
        with self.assertRaisesRegex(ToolError, "not ours"):
            supervisor.lock("t")

    def test_forgetting_the_last_cluster_leaves_nothing(self):
        os.close(supervisor.lock("t"))
        supervisor.remove_lock("t")
        self.assertFalse(self.base.exists())


class Talking(unittest.TestCase):
    def answer_with(self, handle, **request):
        with tempfile.TemporaryDirectory() as top, mock.patch.object(layout, "BASE", Path(top)):
            bed = Layout("t")
            bed.state.mkdir()
            with control_socket.listen(bed) as server:
                thread = threading.Thread(target=control_socket.answer, args=(server, handle))
                thread.start()
                try:
                    return control_socket.send_request(bed, **request)
                finally:
                    thread.join()

    def test_a_request_is_answered(self):
        found = self.answer_with(lambda request: ({"seen": request["do"]}, None), do="status")
        self.assertEqual(found, {"seen": "status"})

    def test_a_failure_there_is_a_failure_here(self):
        def refuse(_):
            raise ToolError("node2 is off")
        with self.assertRaisesRegex(ToolError, "node2 is off"):
            self.answer_with(refuse, do="enter")

    def test_a_descriptor_comes_along(self):
        reading, writing = os.pipe()
        found = self.answer_with(lambda _: ({}, reading), do="enter")
        os.write(writing, b"through")
        self.assertEqual(os.read(found["descriptor"], 10), b"through")
        for each in (writing, found["descriptor"]):
            os.close(each)

    def test_an_answer_of_any_length_arrives_whole(self):
        text = "x" * 300_000
        found = self.answer_with(lambda _: ({"log": text}, None), do="status")
        self.assertEqual(found["log"], text)


class Parts(unittest.TestCase):
    def test_a_part_that_ended_says_how(self):
        with tempfile.TemporaryDirectory() as top:
            part = run.ManagedProcess("p", ["sh", "-c", "echo last words; exit 3"], top).start()
            part.process.wait()
            self.assertEqual(part.exit_reason, "ended with code 3")
            self.assertEqual(run.tail(part.log), "last words")
            killed = run.ManagedProcess("k", ["sleep", "1000"], top).start()
            self.assertIsNone(killed.exit_reason)
            killed.process.kill()
            killed.process.wait()
            self.assertEqual(killed.exit_reason, "died of SIGKILL")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
