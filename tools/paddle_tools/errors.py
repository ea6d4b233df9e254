# SPDX-License-Identifier: Apache-2.0
"""The error that tools report to their user."""


class ToolError(Exception):
    """An expected failure. Its text tells the user what failed and, if possible, what to do."""
