# SPDX-License-Identifier: Apache-2.0
"""Installs the operator from deploy/ as the documents say, and leaves it running."""
from paddle_tools.e2e import installation


def run(cluster):
    installation.install(cluster)
