"""Number the accesses of an optimised module, so that each can be found again in the generated code.

LLVM, ptxas and nvdisasm pass on only the line of a debug location. Each access gets a separate location, whose line
is its number.
"""

from __future__ import annotations

import re

import msgspec

FIRST = 1 << 20  # the number of the first access: no source has so many lines
MEMORY = ("load", "store", "atomicrmw", "cmpxchg")
_DEBUG = re.compile(r", !dbg (!\d+)")
_LOCATION = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+)(.*)\)$")


class Numbered(msgspec.Struct, frozen=True):
    """A module whose accesses have numbers from FIRST on instead of lines."""

    text: str
    sites: tuple[int, ...]  # the original line of each, by number - FIRST; 0 for none

    def site(self, number: int) -> int:
        """Return the original line of an access; other numbers are lines already."""
        return self.sites[number - FIRST] if number >= FIRST else number


def number_accesses(text: str) -> Numbered:
    """Give each access of a module a separate debug location."""
    lines = text.split("\n")
    locations = {match[1]: (int(match[2]), match[3]) for line in lines if (match := _LOCATION.match(line))}
    free = max((int(name) for name in re.findall(r"^!(\d+) = ", text, re.MULTILINE)), default=0) + 1
    sites: list[int] = []
    added: list[str] = []
    scope = ""  # of the function
    for index, line in enumerate(lines):
        if line.startswith("define "):
            match = re.search(r"!dbg (!\d+)", line)
            scope = match[1] if match else ""
        elif scope and is_access(line):
            match = _DEBUG.search(line)
            location = locations.get(match[1]) if match else None
            number, name = FIRST + len(sites), f"!{free + len(added)}"
            sites.append(location[0] if location else 0)
            rest = location[1] if location else f", scope: {scope}"
            added.append(f"{name} = !DILocation(line: {number}{rest})")
            unlocated = _DEBUG.sub("", line)
            lines[index] = f"{unlocated}, !dbg {name}"
    return Numbered("\n".join([*lines, *added]), tuple(sites))


def is_access(line: str) -> bool:
    """Return True if a line is an instruction that accesses memory, also as inline PTX."""
    if not line.startswith("  "):
        return False
    text = re.sub(r'^\s*%(?:"[^"]*"|[\w.$-]+) = ', "", line).strip()
    return text.split(" ", 1)[0] in MEMORY or (
        " asm " in text and re.search(r'"(ld|st)\.global\.', text) is not None
    )
