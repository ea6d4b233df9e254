# SPDX-License-Identifier: Apache-2.0
"""`make quickstart` (tools/quickstart)."""
