# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios of test/e2e (tools/e2e), and what scenarios import."""
