"""The documentation as tests read it: its pages, their blocks of code, and the commands in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from folders import ROOT

FENCE = re.compile(r"^( *)(`{3,})([\w-]*)(?: title=\"([^\"]+)\")?\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?: {4,}|\$ |!|(?:- )?run: | *)(tilescope(?: .*)?)$")
OUTPUT = re.compile(r"^<!-- output: (tilescope .+?) -->$", re.MULTILINE)
MEDIA = re.compile(r"^<!-- media: (\S+) = (tilescope .+?) \| .+ -->$", re.MULTILINE)
INLINE = re.compile(r"`(tilescope [^`]+)`")
AFTER = re.compile(r"  +|\s+#")  # what separates a command from what is written after it


class Block(NamedTuple):
    """A block of code in a page."""

    language: str  # "" where none is named
    title: str  # the file that it is saved as, or ""
    text: str


def pages() -> list[Path]:
    """List the Markdown files that users read."""
    folders = (ROOT / "docs" / "pages", ROOT / "docs" / "decisions", ROOT / "resources" / "explain")
    return [ROOT / "README.md", *(path for folder in folders for path in sorted(folder.rglob("*.md")))]


def name_of(path: Path) -> str:
    """Return the path of a page from the checkout."""
    return path.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """List the fenced blocks of a page, without their indentation."""
    return [
        Block(language, title, re.sub(f"^{indent}", "", code, flags=re.MULTILINE))
        for indent, _, language, title, code in FENCE.findall(text)
    ]


def prose_of(text: str) -> str:
    """Return a page without its fenced blocks."""
    return FENCE.sub("", text)


def commands_of(text: str) -> list[str]:
    """List every command of a page: in blocks, in directives and in the text."""
    lines = [
        line for block in blocks_of(text) if block.language != "python" for line in block.text.splitlines()
    ]
    lines += [line for line in prose_of(text).splitlines() if line.startswith("    ")]
    in_blocks = [AFTER.split(match[1])[0] for line in lines if (match := COMMAND.match(line))]
    written = [f"{command} -o {name}" for name, command in MEDIA.findall(text)]
    return [*in_blocks, *OUTPUT.findall(text), *written, *INLINE.findall(prose_of(text))]
