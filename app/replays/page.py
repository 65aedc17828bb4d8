"""The page of a replay: markup, style, scripts, and the document as packed data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import zlib
from importlib.resources import files
from typing import Any

from ... import resources
from ..model.visible_text import escape_controls
from ..widgets.theme import DARK, LIGHT, MONO, SANS

FOLDER = files(resources) / "replay"
PROGRAMS = (
    "data.js",
    "pictures.js",
    "timeline.js",
    "texts.js",
    "replay.js",
)  # in execution order
LINE = 120  # letters per line of packed data


def page_of(document: dict[str, Any]) -> str:
    """Build the page of a document: one file that fetches nothing and contains all texts as data.

    The page's content security policy allows only its own scripts and style, by their hashes.
    """
    style, program = f"{colours()}\n{_text('replay.css')}", "\n".join(map(_text, PROGRAMS))
    opening = _text("opening.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(opening)}' '{_hash(program)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return _text("replay.html").format(
        policy=html.escape(policy),
        title=html.escape(escape_controls(document["title"])),
        style=style,
        opening=opening,
        program=program,
        data=packed(document),
    )


def packed(document: dict[str, Any]) -> str:
    """Serialise a document as JSON, zlib (twice) and base64, which contains no markup.

    The second pass halves a page: drawings repeat further apart than the 32 KiB in which zlib finds repetitions.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    letters = base64.b64encode(zlib.compress(zlib.compress(text.encode("utf-8", "replace"), 9), 9)).decode(
        "ascii"
    )
    return "\n".join(letters[i : i + LINE] for i in range(0, len(letters), LINE))


def unpacked(page: str) -> dict[str, Any]:
    """Extract the document from a page."""
    letters = page.partition('<script id="data" type="text/plain">')[2].partition("</script>")[0]
    document: dict[str, Any] = json.loads(zlib.decompress(zlib.decompress(base64.b64decode(letters))))
    return document


def colours() -> str:
    """Build the CSS variables of colours and fonts, for the light and the dark theme."""
    fonts = {"sans": (*SANS, "system-ui", "sans-serif"), "mono": (*MONO, "monospace")}
    families = "".join(f"--{name}:{','.join(map(_family, names))};" for name, names in fonts.items())
    light, dark = (
        "".join(f"--{name}:{getattr(palette, name)};" for name in palette.__struct_fields__)
        for palette in (LIGHT, DARK)
    )
    return (
        f":root{{color-scheme:light;{families}{light}}}\n"
        f':root[data-theme="dark"]{{color-scheme:dark;{dark}}}\n'
        f"@media(prefers-color-scheme:dark){{:root:not([data-theme]){{color-scheme:dark;{dark}}}}}"
    )


def _family(name: str) -> str:
    return name if name.islower() else f'"{name}"'


def _text(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
