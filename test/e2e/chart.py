# SPDX-License-Identifier: Apache-2.0
"""The Helm chart with the real Helm: rendered, refused, installed and removed on an API server.

Runs the tests of test/chart, which need no nodes. They are not part of `make test`: building Helm
takes minutes of processor time.
"""
import subprocess
import sys

from paddle_tools.e2e.cluster import expect
from paddle_tools.paths import TOP

MAKES_CLUSTERS = True
COMPONENTS = ("etcd", "helm", "kube-apiserver", "kubeconform", "kubectl")
LIMIT = 1200  # seconds, for one file


def run(scenario_run):
    for file in sorted((TOP / "test" / "chart").glob("*_test.py")):
        with scenario_run.step(file.stem):
            done = subprocess.run([sys.executable, "-B", file], check=False, text=True, cwd=TOP,
                                  capture_output=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
            expect(done.returncode == 0, f"{file.name} failed:\n{done.stderr[-4000:]}")
            scenario_run.note(done.stderr.strip().splitlines()[-3])
