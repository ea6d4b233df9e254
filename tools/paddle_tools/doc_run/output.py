# SPDX-License-Identifier: Apache-2.0
"""Whether commands printed what a page shows. Pure.

A table has the same headers, the same number of rows and, in each cell, the same words, unless the
cell is an age, an address, a hash, a size or a count: of those only the kind is compared, and that
a size is zero. Other lines are compared word by word in the same way. `...` stands for any text in
a line, and alone in a line for any lines.
"""
import re
from collections.abc import Iterator
from dataclasses import dataclass

ANY = "..."
_HEADER = re.compile(r"[A-Z][A-Z-]*(?: [A-Z][A-Z-]*)*(?:\s{2,}[A-Z][A-Z-]*(?: [A-Z][A-Z-]*)*)+\s*")
_TITLES = re.compile(r"[A-Z][A-Z-]*(?: [A-Z][A-Z-]*)*")
# Columns whose cells are ages or counts, whatever they look like; "12 (3m ago)" is in RESTARTS.
_BY_TITLE = {"AGE": "<age>", "DURATION": "<age>", "CREATED AT": "<age>", "RESTARTS": "<count>"}
# In kubectl's random names there are neither vowels nor 0, 1 and 3.
_RANDOM = "[bcdfghjklmnpqrstvwxz2456789]"
_KINDS = [(re.compile(pattern), kind) for pattern, kind in (
    (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", "<age>"),
    (r"(?<![\w.])0 ?(?:[KMGT]i)?B\b", "<no size>"),
    (r"\b\d+(?:\.\d+)? ?[KMGT]?i?B\b", "<size>"),
    (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b", "<address>"),
    (rf"-[a-z0-9]{{6,10}}-{_RANDOM}{{5}}(?![\w-])", "-<hash>"),
    (rf"-{_RANDOM}{{5}}(?![\w-])", "-<hash>"),
    (r"\b(?=[a-f]*\d)[0-9a-f]{12,}\b", "<hash>"),
    (r"(?<![\w.-])(?:\d+[dhms])+(?![\w-])", "<age>"),
    (r"(?<![\w.-])\d+(?:\.\d+)? s(?![\w-])", "<age>"),
    (r"\b\d+/\d+ files\b", "<count> files"),
    (r"(?<![\w./:-])\d+(?:\.\d+)?%?(?![\w./:-]*\w)", "<count>"),
)]
_WORD = re.compile(rf"(?<![A-Za-z0-9])(?!(?:[KMGT]i?B|ago)\b)(?!(?<=-){_RANDOM}{{5}}(?![\w-]))"
                   r"[A-Za-z]{3,}(?![A-Za-z0-9])")


def plain(text: str) -> str:
    """The text with each age, address, hash, size and count replaced by its kind."""
    for pattern, kind in _KINDS:
        text = pattern.sub(kind, text)
    return " ".join(text.split())


@dataclass(frozen=True)
class Line:
    """A line outside of tables, or the cells of a row. `titles` are of the row's table."""
    text: str
    cells: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def plain(self) -> list[str]:
        if not self.titles:
            return [plain(self.text)]
        return [_BY_TITLE[title] if title in _BY_TITLE and cell not in ("", ANY)
                else plain(cell) for title, cell in zip(self.titles, self.cells, strict=True)]


def lines(text: str) -> list[Line]:
    """Empty lines, and spaces at the ends of lines, do not count."""
    found: list[Line] = []
    starts: list[int] = []
    titles: tuple[str, ...] = ()
    for line in text.splitlines():
        if not line.strip():
            starts, titles = [], ()
        elif _HEADER.fullmatch(line):
            matches = list(_TITLES.finditer(line))
            starts = [each.start() for each in matches]
            titles = tuple(each.group(0) for each in matches)
            found.append(Line(line.strip(), titles, ()))
        elif starts and line.strip() != ANY and _fits(line, starts):
            ends = [*starts[1:], len(line)]
            cells = tuple(line[start:end].strip()
                          for start, end in zip(starts, ends, strict=True))
            found.append(Line(line.strip(), cells, titles))
        else:
            found.append(Line(line.strip()))
            if line.strip() != ANY:
                starts, titles = [], ()
    return found


def _fits(line: str, starts: list[int]) -> bool:
    """Whether no word crosses the beginning of a column."""
    return all(start >= len(line) or line[start - 1] == " " for start in starts[1:])


def differences(shown: str, found: str) -> list[str]:
    """Sentences about where what was found differs from what is shown; empty when it does not."""
    return list(_differences(lines(shown), lines(found)))


def _differences(shown: list[Line], found: list[Line]) -> Iterator[str]:
    at = 0
    for number, line in enumerate(shown):
        if line.text == ANY:
            rest = shown[number + 1:]
            after = next((skip for skip in range(at, len(found) + 1)
                          if not list(_differences(rest, found[skip:]))), None)
            if after is None:
                yield f"nothing after '{ANY}' is as shown: {[each.text for each in rest]}"
            return
        if at == len(found):
            yield f"'{line.text}' is missing"
            return
        if problem := _difference(line, found[at]):
            yield problem
        at += 1
    for line in found[at:]:
        yield f"'{line.text}' is not shown"


def _difference(shown: Line, found: Line) -> str | None:
    if shown.titles != found.titles or len(shown.cells) != len(found.cells):
        return f"'{shown.text}' is shown, and '{found.text}' was found"
    parts = list(zip(shown.plain, found.plain, strict=True))
    for index, (mine, its) in enumerate(parts):
        wanted = ".*".join(re.escape(each) for each in mine.split(ANY))
        if not re.fullmatch(wanted, its):
            where = f"in column {shown.titles[index]} " if shown.titles else ""
            return f"{where}'{mine}' is shown, and '{its}' was found"
    return None


def changed_words(shown: str) -> Iterator[tuple[str, str]]:
    """(word, the text with one letter of it changed) for each word of three letters and more that
    is no unit and no random name. It does not use plain(): what that leaves out by mistake, a test
    that changes these words finds."""
    for match in _WORD.finditer(shown):
        at = match.start()
        other = "x" if shown[at].lower() != "x" else "y"
        other = other.upper() if shown[at].isupper() else other
        yield match.group(0), shown[:at] + other + shown[at + 1:]
