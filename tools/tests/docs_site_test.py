# SPDX-License-Identifier: Apache-2.0
"""The documentation site: where pages are in it, and how their links read there."""
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

from paddle_tools.checks import documents
from paddle_tools.docs_site import menus
from paddle_tools.docs_site.pages import Pages, address, place
from paddle_tools.errors import ToolError


def staged(files: dict[str, str], language: str = "en") -> dict[str, str | None]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        pages = Pages(Path(folder), [Path(each) for each in files], language)
        pages.collect()
        return pages.staged


class DocsSite(unittest.TestCase):
    def test_pages_of_users_are_at_the_top_and_others_keep_their_folders(self) -> None:
        self.assertEqual(place("README-zh_CN.md"), "index.md")
        self.assertEqual(place("docs/zh_CN/install.md"), "install.md")
        self.assertEqual(place("docs/design/0001-x.md"), "design/0001-x.md")
        self.assertEqual(address("bench/README.md"), "bench/index.html")
        self.assertEqual(address("docs/en/install.md"), "install.html")

    def test_links_lead_to_where_pages_are(self) -> None:
        found = staged({"docs/en/a.md": "[b](b.md#x) [m](../METRICS.md) [y](../../deploy/y.yaml)",
                        "docs/en/b.md": "# x", "docs/METRICS.md": "[a](en/a.md)",
                        "deploy/y.yaml": "y: 1"})
        self.assertEqual(found["docs/en/a.md"], "[b](b.md#x) [m](METRICS.md) [y](deploy/y.yaml)\n")
        self.assertEqual(found["docs/METRICS.md"], "[a](a.md)\n")
        self.assertIsNone(found["deploy/y.yaml"])

    def test_a_document_of_a_folder_is_there_when_a_page_links_to_it(self) -> None:
        found = staged({"README.md": "[src](src) [no](test)", "src/README.md": "# src",
                        "tools/README.md": "# tools", "test/x.py": ""})
        self.assertEqual(found["README.md"], "[src](src/README.md) no\n")
        self.assertIn("src/README.md", found)
        self.assertNotIn("tools/README.md", found)

    def test_a_link_to_the_other_language_leads_to_its_site(self) -> None:
        files = {"docs/en/a.md": "[中文](../zh_CN/a.md#x)", "docs/zh_CN/a.md": "[en](../en/a.md)"}
        self.assertEqual(staged(files)["docs/en/a.md"],
                         '<a href="../zh_CN/a.html#x">中文</a>\n')
        self.assertNotIn("docs/zh_CN/a.md", staged(files))

    def test_code_is_left_alone_and_a_link_may_have_code_in_its_text(self) -> None:
        text = "`[a](nowhere.md)` [`b`](../METRICS.md)\n```text\n[a](nowhere.md)\n```\n"
        found = staged({"docs/en/a.md": text, "docs/METRICS.md": ""})
        self.assertEqual(found["docs/en/a.md"], text.replace("../METRICS.md", "METRICS.md"))

    def test_code_in_a_table_loses_the_escape_that_github_needs(self) -> None:
        found = staged({"docs/en/a.md": "| `a\\|b` | c\\|d |\n"})
        self.assertEqual(found["docs/en/a.md"], "| `a|b` | c\\|d |\n")

    def test_a_link_that_leads_nowhere_is_refused(self) -> None:
        with self.assertRaisesRegex(ToolError, r"docs/en/a\.md: the link to 'b\.md' leads nowhere"):
            staged({"docs/en/a.md": "[b](b.md)"})


class Menus(unittest.TestCase):
    """A tree with one page per language, one decision and one folder of src."""

    FILES: ClassVar = {
        "README.md": "`src/base`", "README-zh_CN.md": "", "docs/design/0001-x.md": "[s](../../src)",
        "src/README.md": "", "src/base/a.cc": "", "src/controllers/README.md": "",
        "test/README.md": "", "docs/site/base.yml": "site_name: x\nnot_in_nav: |\n  /src/\n",
        "docs/site/en.yml": "nav:\n  - Start:\n      - index.md\n      - design/0001-x.md\n",
        "docs/site/zh_CN.yml": "nav:\n  - 入门:\n      - index.md\n"
                               "      - 决策: design/0001-x.md\n"}

    def problems(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q", folder], check=True)
            for name, text in {**self.FILES, **files}.items():
                (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / name).write_text(text)
            return [*menus.problems(Path(folder)), *documents.unlisted_folders(Path(folder))]

    def test_pages_that_are_in_a_menu_or_left_out_by_name_are_good(self) -> None:
        self.assertEqual(self.problems({"src/controllers/README.md": ""}),
                         ["README.md: does not name `src/controllers`"])
        self.assertEqual(self.problems({"README.md": "`src/base`, `src/controllers`"}), [])

    def test_a_page_that_is_in_no_menu_is_found_in_each_language(self) -> None:
        listed = {"README.md": "`src/base`, `src/controllers`"}
        self.assertEqual(self.problems({**listed, "docs/design/0002-y.md": "# y"}),
                         [f"docs/site/{each}.yml: design/0002-y.md is in no menu"
                          for each in ("en", "zh_CN")])
        self.assertEqual(self.problems({**listed, "docs/zh_CN/a.md": "# a"}),
                         ["docs/site/zh_CN.yml: a.md is in no menu"])

    def test_an_entry_without_a_page_and_one_that_is_there_twice_are_found(self) -> None:
        menu = "nav:\n  - A:\n      - index.md\n      - gone.md\n      - B: index.md\n"
        self.assertEqual(list(menus.differences(["index.md"], menus.entries("x: y\n" + menu), [])),
                         ["gone.md is no page", "index.md is named 2 times"])

    def test_a_folder_that_its_readme_does_not_name_is_found(self) -> None:
        self.assertIn("test/README.md: does not name `walks`", self.problems({"test/walks/a": ""}))


if __name__ == "__main__":
    unittest.main()
