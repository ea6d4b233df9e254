# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes cluster of several nodes on one machine (tools/testbed)."""
