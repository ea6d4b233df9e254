# SPDX-License-Identifier: Apache-2.0
"""The documentation site: docs/ in both languages, built by MkDocs Material."""
