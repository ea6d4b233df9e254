# SPDX-License-Identifier: Apache-2.0
"""The engine of `make check` and `make test` (tools/run_tests), and its time report."""
