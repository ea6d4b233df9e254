# SPDX-License-Identifier: Apache-2.0
"""What went wrong, for people."""


class Failure(Exception):
    """A sentence for the user, with the next step."""
