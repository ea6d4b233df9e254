# SPDX-License-Identifier: Apache-2.0
"""Reads the YAML that our own tools write: blocks with one key per line, values in braces over any
number of lines. Scalars stay text; one of several lines (a file of a ConfigMap) is its first line.
"""
import re
from collections.abc import Callable, Iterator
from typing import Any

Lines = list[tuple[int, str]]  # (indent, text)

_ENTRY = re.compile(r'("(?:\\.|[^"\\])*"|[^\s"#][^:#]*?):(?:\s+(.*))?$')

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],]|:(?=\s)|[^\s{}\[\],:"][^{}\[\],:]*')


def documents(text: str) -> Iterator[Any]:
    """Each document as dictionaries, lists and strings."""
    for part in re.split(r"^---\s*$", text, flags=re.M):
        lines = [(len(line) - len(line.lstrip()), line.strip()) for line in part.splitlines()
                 if line.strip() and not line.lstrip().startswith("#")]
        if lines:
            yield _block(lines)


def _block(lines: Lines) -> Any:
    """The indent of the first line is that of the block."""
    indent, first = lines[0]
    if first == "-" or first.startswith("- "):
        return [_item(each) for each in _cut(lines, indent, lambda text: text.startswith("-"))]
    found: dict[str, Any] = {}
    for each in _cut(lines, indent, lambda text: not text.startswith("-")):
        entry = _ENTRY.match(each[0][1])
        if not entry:
            raise ValueError(f"not a key: {each[0][1][:60]}")
        key, value = entry.group(1).strip('"'), entry.group(2) or ""
        if value.startswith(("{", "[")):
            tokens = _TOKEN.findall(" ".join([value, *(text for _, text in each[1:])]))
            found[key] = _flow(tokens[::-1])
        elif value or len(each) == 1:
            found[key] = _scalar(value)
        else:
            found[key] = _block(each[1:])
    return found


def _cut(lines: Lines, indent: int, begins: Callable[[str], bool]) -> list[Lines]:
    """The lines in groups, one for each entry."""
    groups: list[Lines] = []
    for at, text in lines:
        if at == indent and begins(text):
            groups.append([])
        groups[-1].append((at, text))
    return groups


def _item(lines: Lines) -> Any:
    indent, text = lines[0]
    inner = text[1:].lstrip()
    rest = lines[1:]
    if not _ENTRY.match(inner) and not inner.startswith("- "):
        return _scalar(inner)
    return _block([(indent + len(text) - len(inner), inner), *rest])


def _flow(tokens: list[str]) -> Any:
    """A value in braces or brackets. The tokens are in reverse order."""
    token = tokens.pop()
    if token == "{":
        found: dict[str, Any] = {}
        while (token := tokens.pop()) != "}":
            if token != ",":
                tokens.pop()  # the colon
                found[_scalar(token.strip())] = _flow(tokens)
        return found
    if token == "[":
        items: list[Any] = []
        while tokens[-1] != "]":
            if tokens[-1] == ",":
                tokens.pop()
            else:
                items.append(_flow(tokens))
        tokens.pop()
        return items
    return _scalar(token.strip())


def _scalar(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
