"""Escape text from files and programs before it is shown: invisible and control characters are spelled out.

A terminal obeys control characters, marks that change the direction of writing mislead readers ("Trojan Source",
Boucher and Anderson, 2021), and a line end splits one line of output in two.
"""

from __future__ import annotations

import re

# Control characters, line and paragraph separators, writing directions, characters without width, lone surrogates
# (from file names that are not UTF-8), and tags. Joiners stay: scripts and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_INVISIBLE_IN_LINES = re.compile(_INVISIBLE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def escape_controls(text: object) -> str:
    r"""Escape text to one line of visible characters: a line end becomes `\n`, an escape character `\x1b`."""
    return _INVISIBLE.sub(_escape, str(text))


def escape_controls_in_lines(text: object) -> str:
    """Escape text, but keep line ends and tabs."""
    return _INVISIBLE_IN_LINES.sub(_escape, str(text))


def replace_controls(text: str) -> str:
    """Replace each invisible character by one symbol, so that columns stay."""
    return _INVISIBLE_IN_LINES.sub(_symbol, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _symbol(match: re.Match[str]) -> str:
    """Return the Unicode picture of a control character, or the replacement character."""
    number = ord(match[0])
    return chr(0x2400 + number) if number < 0x20 else "\u2421" if number == 0x7F else "\ufffd"
