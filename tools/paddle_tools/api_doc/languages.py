# SPDX-License-Identifier: Apache-2.0
"""The words of the reference in one language: the table `page` of en.toml or zh_CN.toml."""
import tomllib
from dataclasses import dataclass
from pathlib import Path

from paddle_tools.api_doc.fields import Field


@dataclass(frozen=True)
class Language:
    """Texts with {} are filled with `format`."""
    title: str
    other: str          # the folder of the other language
    other_name: str
    opening: str
    identity: str       # {version}, {short}
    header: str
    rules: str
    list_of: str        # {}
    required: str
    one_of: str
    between: str        # {} and {}
    at_least: str
    at_most: str
    characters: str     # {}
    entries: str        # {}
    comma: str
    value_comma: str

    def type_of(self, field: Field) -> str:
        """The type of a field with all that limits its value."""
        parts = [self.list_of.format(field.kind) if field.is_list else field.kind]
        bounds = field.bounds
        if bounds.get("format") == "date-time":
            parts[0] = "RFC 3339"
        if values := [f"`{each}`" for each in bounds.get("enum", []) if each]:
            parts.append(self.one_of + self.value_comma.join(values))
        parts += self._range(bounds.get("minimum"), bounds.get("maximum"), "{}")
        parts += self._range(bounds.get("minLength"), bounds.get("maxLength"), self.characters)
        parts += self._range(bounds.get("minItems"), bounds.get("maxItems"), self.entries)
        if field.required:
            parts.append(self.required)
        return self.comma.join(parts)

    def _range(self, low: str | None, high: str | None, unit: str) -> list[str]:
        if low is not None and high is not None:
            return [unit.format(self.between.format(low, high))]
        if low is not None:
            return [unit.format(self.at_least.format(low))]
        return [unit.format(self.at_most.format(high))] if high is not None else []


def read(file: Path) -> tuple[Language, dict[str, str]]:
    """The words of a language, and its translations of descriptions, if it has any."""
    table = tomllib.loads(file.read_text())
    return Language(**table["page"]), table.get("descriptions", {})
