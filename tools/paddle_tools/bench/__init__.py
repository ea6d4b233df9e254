# SPDX-License-Identifier: Apache-2.0
"""The benchmarks bench/read and bench/control."""
