# SPDX-License-Identifier: Apache-2.0
"""Writes docs/en/api_doc.md and docs/zh_CN/api_doc.md from deploy/v1/crd.yaml.

    tools/api_doc            writes them
    tools/api_doc --check    fails when one differs

Descriptions in Chinese are in tools/paddle_tools/api_doc/zh_CN.toml; each has to be there.
`tools/crds`, which writes the definitions from src/api, ends with this.
"""
from pathlib import Path

from paddle_tools.api_doc.fields import Field, Kind, kinds
from paddle_tools.api_doc.languages import Language, read
from paddle_tools.errors import ToolError
from paddle_tools.generated_files import Generator

DEFINITIONS = "deploy/v1/crd.yaml"
LANGUAGES = "tools/paddle_tools/api_doc"
TRANSLATIONS = f"{LANGUAGES}/zh_CN.toml"
# An object of each kind, shown before its fields.
EXAMPLES = {"PaddleJob": "deploy/examples/ps-demo.yaml",
            "SampleSet": "deploy/examples/imagenet.yaml",
            "SampleJob": "deploy/examples/sync-job.yaml"}


def translated(found: list[Kind], words: dict[str, str]) -> dict[str, str]:
    """The translations, when they are those of the definitions: none is missing, none is left."""
    needed = {field.description for kind in found for field in kind.fields} - {""}
    for each in sorted(needed - words.keys()):
        raise ToolError(f"{TRANSLATIONS} lacks: {each}")
    for each in sorted(words.keys() - needed):
        raise ToolError(f"{TRANSLATIONS} has what is in no definition: {each}")
    return words


def row(field: Field, language: Language, words: dict[str, str]) -> str:
    text = words.get(field.description, "") if words else field.description
    cells = (f"`{field.path}`", language.type_of(field), text)
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"


def section(kind: Kind, top: Path, language: Language, words: dict[str, str]) -> list[str]:
    """One kind: an example, the fields of its spec, what is refused, the fields of its status."""
    example = EXAMPLES[kind.name]
    lines = [f"## {kind.name}", "",
             language.identity.format(version=kind.version, short=", ".join(kind.short_names)), "",
             f"[{example}](../../{example}):", "", "```yaml",
             *(line for line in (top / example).read_text().splitlines()
               if not line.startswith("#")), "```", ""]
    for part in ("spec", "status"):
        lines += [f"### {kind.name} {part}", "", language.header, "|---|---|---|",
                  *(row(field, language, words) for field in kind.fields
                    if field.path.startswith(part + ".")), ""]
        if part == "spec" and kind.rules:
            lines += [language.rules, "",
                      *(f"- `{f'{where}: ' if where else ''}{message}`"
                        for where, message in kind.rules), ""]
    return lines


def page(found: list[Kind], top: Path, language: Language, words: dict[str, str]) -> str:
    lines = [language.title, "", f"[{language.other_name}](../{language.other}/api_doc.md)", "",
             language.opening.strip(), ""]
    for kind in found:
        lines += section(kind, top, language, words)
    return "\n".join(lines).rstrip("\n") + "\n"


def files(top: Path) -> dict[str, str]:
    """Everything that this tool writes: path beneath the repository -> text."""
    found = kinds((top / DEFINITIONS).read_text())
    english, _ = read(top / LANGUAGES / "en.toml")
    chinese, words = read(top / TRANSLATIONS)
    return {"docs/en/api_doc.md": page(found, top, english, {}),
            "docs/zh_CN/api_doc.md": page(found, top, chinese, translated(found, words))}


GENERATOR = Generator("api_doc", __doc__ or "", DEFINITIONS, files)


def main(argv: list[str]) -> int:
    return GENERATOR.main(argv)
