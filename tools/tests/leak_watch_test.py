# SPDX-License-Identifier: Apache-2.0
"""The watch for leaked keys finds those that are planted, wherever it looks, and repeats none."""
import contextlib
import http.client
import http.server
import io
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from paddle_tools.e2e import http_replies, leak_watch, main
from paddle_tools.e2e.cluster import ScenarioFailed, ScenarioRun
from paddle_tools.e2e.leak_watch import CommandLines, Files, Finder, Objects, program_of
from paddle_tools.runner.report import TestReport

KEY = b"canary-5b0e7a"


def finder():
    made = Finder()
    made.add({"the key": KEY, "no key": b""})
    return made


class Found(unittest.TestCase):
    def test_is_named_once_and_not_repeated(self):
        made = finder()
        made.look("a log", b"x " + KEY + b" y")
        made.look("a log", KEY)
        made.look("another log", b"nothing")
        self.assertEqual(made.take(), ["the key is in a log"])
        self.assertEqual(made.take(), [])


class OnACommandLine(unittest.TestCase):
    def test_it_is_found_while_the_process_lives(self):
        made = finder()
        lines = CommandLines(made)
        lines.look()
        self.assertEqual(made.take(), [])
        child = subprocess.Popen(["sh", "-c", "read line", KEY.decode()], stdin=subprocess.PIPE)
        try:
            while not (told := made.take()):
                self.assertIsNone(child.poll())
                lines.look()
                time.sleep(0.01)
        finally:
            child.communicate(b"\n")
        self.assertEqual(told, ["the key is in the command line of sh"])

    def test_its_program_is_named_with_its_verb_and_without_the_key(self):
        self.assertEqual(program_of(b"/b/juicefs\0format\0--secret-key=x\0"), "/b/juicefs format")
        self.assertEqual(program_of(b"/b/juicefs format --secret-key=x"), "/b/juicefs format")
        self.assertEqual(program_of(b"curl\0-u\0key\0"), "curl")
        self.assertEqual(program_of(b""), "")

    def test_it_is_found_when_a_process_begins_another_program_later(self):
        made = finder()
        lines = CommandLines(made)
        child = subprocess.Popen(["sh", "-c", 'read line; exec sh -c "read line" "$KEY"'],
                                 stdin=subprocess.PIPE, bufsize=0,
                                 env={"PATH": "/usr/bin:/bin", "KEY": KEY.decode()})
        try:
            for _ in range(20):
                lines.look()
            self.assertEqual(made.take(), [])
            child.stdin.write(b"\n")
            while not (told := made.take()):
                self.assertIsNone(child.poll())
                lines.look()
                time.sleep(0.01)
        finally:
            child.communicate(b"\n")
        self.assertEqual(told, ["the key is in the command line of sh"])


class InALog(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)
        self.log = self.top / "node1" / "0.log"
        self.log.parent.mkdir()
        self.finder = finder()
        self.files = Files(self.finder, self.top, ("node*/*.log",))

    def append(self, text):
        with open(self.log, "ab") as file:
            file.write(text)
        self.files.look()

    def test_it_is_found_also_when_it_is_written_in_two_halves(self):
        self.append(b"begin " + KEY[:5])
        self.assertEqual(self.finder.take(), [])
        self.append(KEY[5:])
        self.assertEqual(self.finder.take(), ["the key is in the log node1/0.log"])

    def test_it_is_found_in_a_file_that_was_begun_again(self):
        self.append(b"a long line without anything\n")
        self.log.write_bytes(KEY)
        self.files.look()
        self.assertEqual(self.finder.take(), ["the key is in the log node1/0.log"])

    def test_nothing_is_read_twice(self):
        self.append(KEY + b" " * 500)
        self.finder.take()
        self.append(b"more")
        self.assertEqual(self.finder.take(), [])


class Server(http.server.BaseHTTPRequestHandler):
    """An API server that knows pods, and sets from the second request on."""
    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        if "sets" in self.path and sum("sets" in each for each in self.asked) < 2:
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type":"ADDED"}\n{"type":"MODIFIED","a":"' + KEY + b'"}\n')

    def log_message(self, *_):
        pass


class InAnObject(unittest.TestCase):
    def test_it_is_found_in_every_version_and_of_kinds_that_are_defined_later(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stop, made = threading.Event(), finder()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(stop.set)
        with mock.patch.object(leak_watch, "AGAIN_AFTER", 0.05):
            Objects(made, lambda: http.client.HTTPConnection(*server.server_address), stop,
                    ("/pods", "/sets"))
            found: set[str] = set()
            while len(found) < 2:
                found.update(made.take())
                time.sleep(0.01)
        self.assertEqual(found, {"the key is in an object of /pods",
                                 "the key is in an object of /sets"})


class Answers(unittest.TestCase):
    def pod(self, labels, **status):
        return {"metadata": {"namespace": "ns", "name": "p", "labels": labels},
                "status": {"phase": "Running", "podIP": "10.0.0.1", **status}}

    def asked(self, pod):
        return [(each["port"], each["path"], each["headers"]) for each in
                http_replies.asks_of(pod, {("ns", "set-runtime"): "token"})]

    def test_of_runtimes_are_asked_for_with_the_token_and_without(self):
        asked = self.asked(self.pod({"batch.paddlepaddle.org/sampleset": "set"}))
        for headers in ({}, {"Authorization": "Bearer token"}):
            self.assertIn((7716, "/v1/status", headers), asked)

    def test_of_managers_and_mount_pods_are_their_metrics(self):
        manager = self.asked(self.pod({"control-plane": "sampleset-manager"}))
        self.assertIn((8080, "/metrics", {}), manager)
        self.assertIn((8081, "/healthz", {}), manager)
        client = self.asked(self.pod({"app.kubernetes.io/name": "juicefs-mount"}))
        self.assertEqual(client, [(9567, "/metrics", {})])

    def test_are_not_asked_of_pods_that_do_not_run(self):
        self.assertEqual(self.asked(self.pod({"control-plane": "sampleset-manager"},
                                             phase="Pending")), [])


class Scenario:
    """Stands for a file of test/e2e."""
    name, about, makes_clusters = "demo", "It does something.", True
    leaks_of_others = ("a log of others",)

    def __init__(self, act: Any) -> None:
        self.module = self
        self.run = act


class Leaks:
    def __init__(self, found):
        self._found = found

    def found(self):
        found, self._found = self._found, []
        return found


class AScenario(unittest.TestCase):
    def outcome(self, act, found):
        report = TestReport()
        with contextlib.redirect_stdout(io.StringIO()):
            good = main.run_one(report, Scenario(act), ScenarioRun(), Leaks(found))
        return good, [name for name, _ in report.failures]

    def test_fails_when_a_key_leaks_though_it_reaches_its_end(self):
        self.assertEqual(self.outcome(lambda _: None, []), (True, []))
        self.assertEqual(self.outcome(lambda _: None, ["the key is in a log"]),
                         (False, ["demo, leaks"]))

    def test_may_name_where_programs_of_others_show_keys(self):
        self.assertEqual(self.outcome(lambda _: None, ["the key is in a log of others"]),
                         (True, []))

    def test_that_fails_and_leaks_says_both(self):
        def fails(_):
            raise ScenarioFailed("no")
        self.assertEqual(self.outcome(fails, ["the key is in a log"]),
                         (False, ["demo", "demo, leaks"]))


if __name__ == "__main__":
    unittest.main()
