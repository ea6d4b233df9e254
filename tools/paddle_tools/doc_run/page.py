# SPDX-License-Identifier: Apache-2.0
"""A page as a list of fenced blocks, and the steps of a reader who does what the page says. Pure.

    ```shell                    commands, one per line; a line that ends with \\ goes on
    ```yaml title="first.yaml"  a file that the reader writes, or one of the repository, shown
    ```text                     all that the block of commands before it prints
    <!-- not run: REASON -->    on the line before a block of commands: readers of another
                                situation run it
    <!-- not compared: REASON -->  on the line before a block that shows no output of its page

Any other block is a fragment to read.
"""
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NOT_RUN, NOT_COMPARED = "not run", "not compared"

_FENCE = re.compile(r"^(\s*)```(.*)$")
_NOTE = re.compile(r"^\s*<!-- ([a-z ]+): (.+) -->$")
_KIND = re.compile(r"^apiVersion: .*\nkind: ", re.M)
_TITLE = re.compile(r'\btitle="([^"]+)"')
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?\w")


class PageError(Exception):
    """Its text names the line and what is wrong there."""


@dataclass(frozen=True)
class Block:
    """A fenced block. `note` is (kind, reason) of the comment before it, `section` the number of
    headings before it."""
    line: int
    language: str
    title: str
    text: str
    section: int = 0
    note: tuple[str, str] | None = None


@dataclass(frozen=True)
class Commands:
    """A block of commands. `shown` is what they print, or None when the page does not say;
    `not_run` is why they are not run."""
    line: int
    commands: tuple[str, ...]
    shown: str | None = None
    not_run: str = ""


@dataclass(frozen=True)
class File:
    """A file that the page shows under its name."""
    line: int
    name: str
    text: str


@dataclass(frozen=True)
class Page:
    """`uncompared`: (line, reason) of each block of text that is no output of a command."""
    steps: tuple[Commands | File, ...]
    uncompared: tuple[tuple[int, str], ...]

    @property
    def not_run(self) -> list[tuple[int, str, str]]:
        """(line, command, reason) of each command that is not run."""
        return [(step.line, command, step.not_run) for step in self.steps
                if isinstance(step, Commands) and step.not_run for command in step.commands]


def blocks(text: str) -> list[Block]:
    """The fenced blocks; those in lists lose the list's indentation."""
    found: list[Block] = []
    note: tuple[str, str] | None = None
    section = 0
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if match := _NOTE.match(line):
            note = (match.group(1), match.group(2))
        elif match := _FENCE.match(line):
            indent, info = match.group(1), match.group(2).strip()
            body = []
            for _, inner in lines:
                if inner.strip() == "```":
                    break
                body.append(inner.removeprefix(indent))
            else:
                raise PageError(f"{number}: this block has no end")
            title = _TITLE.search(info)
            found.append(Block(number, info.split(" ")[0], title.group(1) if title else "",
                               "".join(f"{each}\n" for each in body), section, note))
            note = None
        elif line.strip():
            note = None
            section += line.startswith("#")
    return found


def commands(text: str, line: int) -> tuple[str, ...]:
    """The commands of a block, each on one line or continued by a backslash."""
    if _HERE_DOCUMENT.search(text):
        raise PageError(f"{line}: a here-document is not supported; show a file with a title")
    joined = text.replace("\\\n", "")
    found = [each.strip() for each in joined.splitlines()]
    if wrong := next((each for each in found if each.startswith(("$ ", "> "))), None):
        raise PageError(f"{line}: '{wrong}' begins with a prompt and cannot be pasted")
    return tuple(each for each in found if each and not each.startswith("#"))


def resources(text: str) -> list[tuple[int, str]]:
    """(line, text) of each block with whole resources of a cluster."""
    return [(block.line, block.text) for block in blocks(text) if block.language == "yaml"
            and _KIND.search(block.text) and "kustomize.config" not in block.text]


def without_comments(text: str) -> list[str]:
    """Lines of shell or YAML without comments and empty lines."""
    lines = (re.sub(r"(^|\s)#.*$", "", line).rstrip() for line in text.splitlines())
    return [line for line in lines if line]


def parse(text: str) -> Page:
    """Raises PageError."""
    steps: list[Commands | File] = []
    uncompared: list[tuple[int, str]] = []
    before: Block | None = None
    for block in blocks(text):
        kind, reason = block.note or ("", "")
        if kind and kind not in (NOT_RUN, NOT_COMPARED):
            raise PageError(f"{block.line}: '{kind}' is neither '{NOT_RUN}' nor '{NOT_COMPARED}'")
        if block.title:
            steps.append(File(block.line, block.title, block.text))
        elif block.language == "shell":
            steps.append(Commands(block.line, commands(block.text, block.line),
                                  not_run=reason if kind == NOT_RUN else ""))
        elif block.language == "text":
            _add_output(block, before, steps, uncompared)
        before = block
    return Page(tuple(steps), tuple(uncompared))


def _add_output(block: Block, before: Block | None, steps: list[Commands | File],
                uncompared: list[tuple[int, str]]) -> None:
    """Puts a block of text to the commands before it, or to what is not compared."""
    if block.note:
        uncompared.append((block.line, block.note[1]))
        return
    last = steps[-1] if steps else None
    if before is None or (before.language, before.section) != ("shell", block.section) \
            or not isinstance(last, Commands):
        raise PageError(f"{block.line}: no commands stand before this output; write "
                        f"<!-- {NOT_COMPARED}: REASON --> before it if that is right")
    if last.not_run:
        uncompared.append((block.line, last.not_run))
    else:
        steps[-1] = Commands(last.line, last.commands, block.text)


def differing_blocks(one: str, other: str) -> Iterator[str]:
    """How the blocks of two languages of a page differ. Comments in them may."""
    left, right = blocks(one), blocks(other)
    for mine, its in zip(left, right, strict=False):
        if _plain(mine) != _plain(its):
            yield f"the blocks at lines {mine.line} and {its.line} differ"
            return
    if len(left) != len(right):
        longer: Sequence[Block] = left if len(left) > len(right) else right
        yield (f"{len(left)} blocks here and {len(right)} there; the first without a twin is at "
               f"line {longer[min(len(left), len(right))].line}")


def _plain(block: Block) -> tuple[object, ...]:
    text: object = block.text
    if block.language in ("shell", "yaml"):
        text = without_comments(block.text)
    return (block.language, block.title, text, block.note[0] if block.note else "")
