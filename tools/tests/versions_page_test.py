# SPDX-License-Identifier: Apache-2.0
"""The page of versions says of every scheme that JuiceFS accepts whether it was ever tried."""
import re
import unittest

from paddle_tools.paths import TOP

ENTRY = re.compile(r'\{\.name = "([a-z0-9]+)",((?:[^{}]|\{[^{}]*\})*)\}')


def schemes() -> dict[str, str]:
    """{scheme: what src/api says of JuiceFS's support}, of those that are accepted as sources."""
    found = ENTRY.findall((TOP / "src/api/source_schemes.h").read_text())
    support = {name: re.findall(r"JuicefsSupport::k(\w+)", rest) for name, rest in found
               if "storage_only" not in rest}
    return {name: words[0] for name, words in support.items()
            if words and words[0] in ("Tested", "Untested")}


class Versions(unittest.TestCase):
    def test_every_accepted_scheme_is_named_as_tried_or_not(self) -> None:
        accepted = schemes()
        self.assertIn("s3", accepted)
        self.assertIn("nfs", accepted)
        for language in ("en", "zh_CN"):
            page = (TOP / "docs" / language / "versions.md").read_text()
            (row,) = (line for line in page.splitlines() if "`wasabi`" in line)
            _, _, seen, expected, _, _ = row.split("|")
            named = {"Tested": set(re.findall(r"`([a-z0-9]+)`", seen)) - {"redis"},
                     "Untested": set(re.findall(r"`([a-z0-9]+)`", expected))}
            for support, names in named.items():
                wanted = {name for name, word in accepted.items() if word == support}
                self.assertEqual(names, wanted, f"{language}: {support}")


if __name__ == "__main__":
    unittest.main()
