# SPDX-License-Identifier: Apache-2.0
"""The quickstart's arithmetic and its refusals. The whole of it runs at the end of make test."""
import fcntl
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from paddle_tools.paths import TOOLS
from paddle_tools.quickstart import report as quickstart_report

LOG = """[w-0] hello
[w-0] RESULT {"rank": 0, "epoch": 1, "samples": 50, "bytes": 500, "seconds": 2.0, "loss": 1}
[w-1] RESULT {"rank": 1, "epoch": 1, "samples": 50, "bytes": 500, "seconds": 4.0, "loss": 1}
[w-0] RESULT {"rank": 0, "epoch": 2, "samples": 50, "bytes": 500, "seconds": 0.5, "loss": 1}
[w-1] RESULT {"rank": 1, "epoch": 2, "samples": 50, "bytes": 500, "seconds": 0.5, "loss": 1}
[w-0] RESULT {"rank": 0, "accuracy": 0.9, "bytes": 1000}
[w-1] RESULT {"rank": 1, "accuracy": 0.9, "bytes": 1000}
"""
READS = {"fromCache": 300, "fromMemory": 0, "fromSource": 1000, "downloaded": 1000}


class Accounts(unittest.TestCase):
    def test_adds_up_what_the_workers_and_the_cache_counted(self):
        report = quickstart_report.Report(quickstart_report.parse_results(LOG), READS, 1040, 1000)
        self.assertIsNone(report.inconsistency())
        self.assertEqual((report.source, report.disk, report.page_cache), (1000, 300, 700))
        self.assertEqual((report.rate(1), report.rate(2)), (25, 200))
        self.assertIn("0.900", report.text(50))
        self.assertIn("8.0 times", report.text(50))

    def test_refuses_more_bytes_than_were_read(self):
        report = quickstart_report.Report(quickstart_report.parse_results(LOG),
                                          {**READS, "fromCache": 3000}, 1040, 1000)
        self.assertIn("more bytes", report.inconsistency())

    def test_refuses_a_download_that_the_link_did_not_carry(self):
        report = quickstart_report.Report(quickstart_report.parse_results(LOG),
                                          {**READS, "downloaded": 5_000_000}, 1040, 1)
        self.assertIn("link", report.inconsistency())

    def test_refuses_silence(self):
        self.assertIn("nothing", quickstart_report.Report([], READS, 0, 0).inconsistency())


class Refusals(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.cache = Path(scratch.name)

    def run_it(self, *before):
        return subprocess.run([*before, TOOLS / "quickstart", "--built"], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PADDLE_OPERATOR_CACHE": str(self.cache)})

    def test_two_at_once(self):
        with open(self.cache / "quickstart-run.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            lock.write("123")
            lock.flush()
            done = self.run_it()
        self.assertEqual(done.returncode, 1)
        self.assertIn("another quickstart is running (process 123)", done.stdout)
        self.assertEqual(done.stdout.count("\n"), 1)

    @unittest.skipIf(os.geteuid() != 0, "hiding a device needs root")
    def test_without_fuse(self):
        done = self.run_it("unshare", "--mount", "bash", "-c",
                           'mount --bind /dev/null /dev/fuse && exec "$0" "$@"')
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no /dev/fuse", done.stdout)
        self.assertEqual(done.stdout.count("\n"), 1)

    @unittest.skipIf(os.geteuid() != 0, "a machine without a network needs root to make")
    def test_without_a_network(self):
        done = self.run_it("unshare", "--net")
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be installed", done.stdout)
        self.assertIn("What to do: check that this machine reaches", done.stdout)


if __name__ == "__main__":
    unittest.main()
