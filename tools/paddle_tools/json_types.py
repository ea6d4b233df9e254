# SPDX-License-Identifier: Apache-2.0
"""Names for values that come from JSON."""
from typing import Any

Json = dict[str, Any]
