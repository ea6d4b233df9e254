# SPDX-License-Identifier: Apache-2.0
"""Where the repository and its tools are, from whatever directory a program was started."""
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
TOP = TOOLS.parent
