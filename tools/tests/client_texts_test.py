# SPDX-License-Identifier: Apache-2.0
"""What JuiceFS prints is parsed for one version: another one has to be looked at first."""
import re
import tomllib
import unittest

from paddle_tools.paths import TOOLS, TOP

PARSERS = TOP / "src/engine/juicefs/node/command/juicefs_output.h"


class ClientTexts(unittest.TestCase):
    def test_the_pinned_juicefs_is_the_one_whose_texts_are_parsed(self) -> None:
        pinned = tomllib.loads((TOOLS / "components.toml").read_text())["juicefs"]["version"]
        known = re.search(r"JuiceFS (\d+\.\d+\.\d+) prints", PARSERS.read_text())
        assert known is not None
        self.assertEqual(known[1], pinned,
                         f"run juicefs_test with {pinned}, compare its logs and metrics with "
                         f"{PARSERS.name}, then name the new version there")


if __name__ == "__main__":
    unittest.main()
