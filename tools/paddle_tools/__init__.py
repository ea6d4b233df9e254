# SPDX-License-Identifier: Apache-2.0
"""The code of the programs in tools/ and bench/; those are launchers of a few lines."""
