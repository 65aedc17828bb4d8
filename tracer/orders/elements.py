"""Elements by their names in the source, as a user types them: out[0] or C[3, 5]."""

from __future__ import annotations

import re

from ..model.finding import element_coordinates
from ..model.trace import ALIAS_SEPARATOR, Trace
from .outcome import Cell, Outcome

_ELEMENT = re.compile(r"\s*([^\W\d]\w*)\s*(?:\[\s*([-\d,\s]*)\])?\s*")


class ElementError(Exception):
    """An element that a launch doesn't have; one sentence."""


def element_of(outcome: Outcome, trace: Trace, text: str) -> Cell:
    """Find the written element of global memory that a text names; raises ElementError."""
    match = _ELEMENT.fullmatch(text)
    if match is None:
        raise ElementError(f"{text!r} is not an element; write for example out[0] or C[3, 5].")
    name = match[1]
    named = {n: n.split(ALIAS_SEPARATOR) for n in outcome.buffers}
    exact = [n for n, names in named.items() if name in names]
    # The pictures label a matrix of the catalogue with a capital.
    matching = exact or [n for n, names in named.items() if name.lower() in map(str.lower, names)]
    buffers = {n: outcome.buffers[n] for n in matching}
    if not buffers:
        names = ", ".join(outcome.buffers) or "none"
        raise ElementError(
            f"{trace.kernel} writes no array named {name!r} in global memory; it writes {names}."
        )
    key, buffer = next(iter(buffers.items()))
    try:
        indices = tuple(int(part) for part in (match[2] or "0").split(",") if part.strip())
    except ValueError as error:
        raise ElementError(f"{text!r} is not an element; write for example {name}[0].") from error
    shape = buffer.shape or (1,)
    if len(indices) == 1 and len(shape) > 1 and match[2] is None:
        indices = (0,) * len(shape)
    if len(indices) != len(shape) or not all(
        0 <= i < length for i, length in zip(indices, shape, strict=True)
    ):
        lengths = " x ".join(map(str, shape))
        raise ElementError(f"{text} is outside {name}, which has {lengths} elements.")
    offset = sum(i * stride for i, stride in zip(indices, buffer.strides, strict=False))
    index = offset // buffer.unit
    assert element_coordinates(buffer, index) is not None
    return outcome.cell(key, index)
