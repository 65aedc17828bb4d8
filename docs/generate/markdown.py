"""Expands the directives of pages, and builds Markdown from parts.

Directives are HTML comments, so that a page reads well elsewhere:

    <!-- output: tilescope COMMAND -->                       the command and what it prints
    <!-- media: NAME = tilescope COMMAND | TEXT -->          a picture, film or replay, with its command
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from program import Program

OUTPUT = re.compile(r"^<!-- output: (.+?) -->$", re.MULTILINE)
MEDIA = re.compile(r"^<!-- media: (\S+) = (.+?) \| (.+?) -->$", re.MULTILINE)


def expanded(text: str, program: Program, depth: int) -> str:
    """Replace the directives of a page that lies `depth` folders deep."""
    text = OUTPUT.sub(lambda found: output_block(found[1], program), text)
    return MEDIA.sub(lambda found: media_block(found[1], found[2], found[3], program, depth), text)


def output_block(command: str, program: Program) -> str:
    """Return a command and what it prints."""
    return code_block(f"$ {command}\n{program.output(command)}", "text")


def media_block(name: str, command: str, text: str, program: Program, depth: int) -> str:
    """Return a picture in both themes, or a replay, and the command that made it."""
    up = "../" * depth
    made = f'\n\n??? note "The command"\n\n    ```sh\n    {command} -o {name}\n    ```'
    if name.endswith(".html"):
        program.write(name, command)
        return replay_block(name, text, depth) + made
    stem, _, suffix = name.rpartition(".")
    if "--theme" in command or suffix not in ("png",):
        program.write(name, command)
        return f"![{text}]({up}media/{name})" + made
    themes = [
        program.write(f"{stem}-{theme}.{suffix}", f"{command} --theme {theme}") for theme in ("light", "dark")
    ]
    pictures = [
        f"![{text}]({up}media/{file}#only-{theme})"
        for file, theme in zip(themes, ("light", "dark"), strict=True)
    ]
    return "\n".join(pictures) + made


def replay_block(name: str, text: str, depth: int) -> str:
    """Return a replay inside the page, and a link to it."""
    path = f"{'../' * depth}media/{name}"
    frame = f'<iframe class="replay" src="{path}" title="{escape(text)}" loading="lazy"></iframe>'
    return f"{frame}\n\n[Open this replay full size]({path})"


def code_block(text: str, language: str) -> str:
    """Return text in a fence that is longer than any fence in it."""
    longest = max((len(ticks) for ticks in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Bars and line ends in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines
    )


def plain(text: str) -> str:
    """Escape what Markdown or HTML would interpret in a text of the program."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def prose(text: str) -> str:
    """Escape the same in a docstring, but for its code in backticks."""
    return "".join(part if part.startswith("`") else plain(part) for part in re.split(r"(`[^`]+`)", text))
