# SPDX-License-Identifier: Apache-2.0
"""The documents on one machine: a reader does what they say with `paddlectl local`."""
from paddle_tools.doc_run import one_machine
from paddle_tools.e2e.cluster import TOP, component, expect

MAKES_CLUSTERS = True


def run(scenario_run):
    with scenario_run.step("local.md is done as it says"):
        expect(one_machine.run(TOP / "build/documents-local", component("kubectl")),
               "the page cannot be done as it says; the reason is above")
