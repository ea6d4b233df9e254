# SPDX-License-Identifier: Apache-2.0
"""Container images out of programs and the libraries they need (tools/images)."""
