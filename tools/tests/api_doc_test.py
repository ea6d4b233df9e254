# SPDX-License-Identifier: Apache-2.0
"""The API reference: every field with its bounds, and no description without its Chinese."""
import unittest

from paddle_tools.api_doc.fields import kinds
from paddle_tools.api_doc.languages import read
from paddle_tools.api_doc.main import LANGUAGES, row, translated
from paddle_tools.errors import ToolError
from paddle_tools.paths import TOP

DEFINITION = """\
spec:
  group: example.org
  names:
    kind: Thing
    shortNames:
    - th
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required:
            - size
            properties:
              size:
                type: integer
                minimum: 1
                maximum: 2147483647
                description: "How many a|b."
              colours:
                type: array
                maxItems: 3
                items:
                  type: string
                  enum:
                  - red
                  - blue
              template:
                type: object
                properties:
                  hidden:
                    type: string
"""
ENGLISH, _ = read(TOP / LANGUAGES / "en.toml")
CHINESE, _ = read(TOP / LANGUAGES / "zh_CN.toml")
WORDS = {"How many a|b.": "translated"}


class Reference(unittest.TestCase):
    def setUp(self):
        (self.kind,) = kinds(DEFINITION)

    def test_a_kind_has_its_fields_without_those_of_kubernetes(self):
        self.assertEqual((self.kind.name, self.kind.version, self.kind.short_names),
                         ("Thing", "example.org/v1", ["th"]))
        self.assertEqual([each.path for each in self.kind.fields],
                         ["spec.size", "spec.colours", "spec.template"])

    def test_a_row_has_type_bounds_and_meaning(self):
        size, colours, template = self.kind.fields
        self.assertEqual(row(size, ENGLISH, {}),
                         "| `spec.size` | integer, at least 1, required | How many a\\|b. |")
        limits = CHINESE.comma.join(["integer", CHINESE.at_least.format(1), CHINESE.required])
        self.assertEqual(row(size, CHINESE, WORDS), f"| `spec.size` | {limits} | translated |")
        self.assertEqual(row(colours, ENGLISH, {}),
                         "| `spec.colours` | list of string, one of `red`, `blue`, "
                         "at most 3 entries |  |")
        self.assertEqual(row(template, ENGLISH, {}), "| `spec.template` | PodTemplateSpec |  |")

    def test_a_description_without_its_chinese_is_an_error(self):
        with self.assertRaisesRegex(ToolError, "lacks: How many"):
            translated([self.kind], {})

    def test_chinese_of_a_description_that_is_gone_is_an_error(self):
        with self.assertRaisesRegex(ToolError, "in no definition: Old"):
            translated([self.kind], {**WORDS, "Old.": "translated"})


if __name__ == "__main__":
    unittest.main()
