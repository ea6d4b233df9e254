# SPDX-License-Identifier: Apache-2.0
"""Static checks of the tree (tools/check_*)."""
