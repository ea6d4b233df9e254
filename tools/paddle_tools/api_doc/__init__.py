# SPDX-License-Identifier: Apache-2.0
"""The reference of the three resources, written from their definitions."""
