"""The text of a PDF file that Qt wrote: glyph numbers of each font, and what they mean by its ToUnicode table."""

from __future__ import annotations

import re
import zlib

Meanings = dict[int, str]


def text_of(content: bytes) -> str:
    """Return all the text in the order in which it was drawn, without any space."""
    objects = {int(n): body for n, body in re.findall(rb"(\d+) 0 obj\n(.*?)endobj", content, re.S)}
    fonts: dict[bytes, Meanings] = {}
    for body in objects.values():
        for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", body):
            table = re.search(rb"/ToUnicode (\d+) 0 R", objects[int(number)])
            assert table is not None
            fonts[name] = _meanings(_stream(objects[int(table[1])]))
    streams = [_stream(body) for body in objects.values() if b"stream" in body]
    drawn = "".join(_drawn(stream, fonts) for stream in streams if b" Tj" in stream)
    return "".join(drawn.split())


def _stream(body: bytes) -> bytes:
    raw = body.split(b"stream\n", 1)[1].rsplit(b"endstream", 1)[0]
    return zlib.decompress(raw) if b"FlateDecode" in body else raw


def _meanings(table: bytes) -> Meanings:
    """Read the ranges of a CMap: <first> <last> [<unicode> ...] and <first> <last> <unicode>."""
    meanings: Meanings = {}
    ranges = rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(?:\[([^\]]*)\]|<([0-9A-Fa-f]+)>)"
    for first, last, several, single in re.findall(ranges, table):
        codes = re.findall(rb"<([0-9A-Fa-f]+)>", several)
        for offset, glyph in enumerate(range(int(first, 16), int(last, 16) + 1)):
            meanings[glyph] = chr(int(codes[offset], 16) if codes else int(single, 16) + offset)
    return meanings


def _drawn(stream: bytes, fonts: dict[bytes, Meanings]) -> str:
    text, font = "", Meanings()
    for name, glyphs in re.findall(rb"/(F\d+) [\d.]+ Tf|<([0-9A-Fa-f]*)> Tj", stream):
        if name:
            font = fonts[name]
        text += "".join(font.get(int(glyphs[i : i + 4], 16), "?") for i in range(0, len(glyphs), 4))
    return text
