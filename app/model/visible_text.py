"""Text from files and programs, made fit to be shown: what would not be seen, or would be obeyed, is spelled out.

A terminal obeys control characters, a reader is misled by marks that turn the direction of writing ("Trojan Source",
Boucher and Anderson, 2021), and a line end makes one line look like two of ours.
"""

from __future__ import annotations

import re

# Control characters, line and paragraph separators, directions of writing, what has no width, halves of characters
# (of file names that are not UTF-8), and tags. Joiners stay: scripts and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_UNSEEN_IN_LINES = re.compile(_UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def visible(text: object) -> str:
    r"""Return text as one line in which all can be seen: a line end as `\n`, an escape character as `\x1b`."""
    return _UNSEEN.sub(_spelled, str(text))


def visible_lines(text: object) -> str:
    """Return the same, in which line ends and tabs stay what they are."""
    return _UNSEEN_IN_LINES.sub(_spelled, str(text))


def visible_in_place(text: str) -> str:
    """Return lines in which a sign of one character stands for each that can't be seen, so that columns stay."""
    return _UNSEEN_IN_LINES.sub(_sign, text)


def _spelled(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _sign(found: re.Match[str]) -> str:
    """Return the picture of a control character, or the sign for what can't be shown."""
    number = ord(found[0])
    return chr(0x2400 + number) if number < 0x20 else "\u2421" if number == 0x7F else "\ufffd"
