"""Elements as people write them: `C[3, 5]`, `tile[3]`, `total`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...kernels.scenarios.suggestions import did_you_mean
from ..model.finding import block_text, coordinates_text
from ..model.trace import Buffer, Trace
from .value_path import Element

LONGEST = 200  # characters of an element's text
_ELEMENT = re.compile(r"\s*([^\[\]]+?)\s*(?:\[([^\[\]]*)\])?\s*")


class NoElementError(ValueError):
    """A text that names no element of a launch; the message is one sentence."""


def split_element(text: str) -> tuple[str, tuple[int, ...]]:
    """Split the text of an element into the array's name and the indices; raises NoElementError."""
    match = _ELEMENT.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        raise NoElementError(
            f"{text[:40]!r} names no element; write an array and its indices, such as C[3, 5]."
        )
    try:
        indices = tuple(int(part) for part in (match[2] or "").split(",") if match[2] or part)
    except ValueError:
        raise NoElementError(
            f"the indices of {text!r} are not whole numbers; write them as in C[3, 5]."
        ) from None
    return match[1], indices


def find_element(
    trace: Trace,
    text: str,
    block: int | None = None,
    thread: int | None = None,
    name_of: Callable[[Buffer], str] = lambda buffer: buffer.name,
) -> Element:
    """Return the element that a text names; raises NoElementError.

    block, thread: linear numbers, for arrays of which each block or each thread has a copy; None takes the first.
    """
    name, indices = split_element(text)
    number = _buffer_named(trace, name, name_of)
    buffer = trace.buffers[number]
    shape, label = buffer.shape, name_of(buffer)
    if len(indices) != len(shape):
        example = f"{label}[{', '.join('0' for _ in shape)}]" if shape else label
        noun = "1 index" if len(shape) == 1 else f"{len(shape)} indices" if shape else "no index"
        raise NoElementError(f"{label} takes {noun}, as in {example}, not {len(indices)}.")
    for axis, (index, length) in enumerate(zip(indices, shape, strict=True)):
        if not -length <= index < length:
            last = f"{label}[{', '.join(str(size - 1) for size in shape)}]"
            raise NoElementError(
                f"index {index} of dimension {axis} is outside {label}, whose last element is {last}."
            )
    wrapped = (i % length for i, length in zip(indices, shape, strict=True))
    offset = sum(index * stride for index, stride in zip(wrapped, buffer.strides, strict=True))
    chosen_block, chosen_thread = _copy(trace, buffer, label, block, thread)
    return Element(number, offset // buffer.unit, chosen_block, chosen_thread)


def _buffer_named(trace: Trace, name: str, name_of: Callable[[Buffer], str]) -> int:
    names = {name_of(buffer): number for number, buffer in reversed(list(enumerate(trace.buffers)))}
    if name in names:
        return names[name]
    folded = {label.lower(): number for label, number in names.items()}
    if name.lower() in folded:
        return folded[name.lower()]
    raise NoElementError(f"the launch accesses no array {name!r}{did_you_mean(name, names)}")


def _copy(trace: Trace, buffer: Buffer, label: str, block: int | None, thread: int | None) -> tuple[int, int]:
    """Return the block and the thread whose copy of a buffer is meant, -1 where all share it."""
    if buffer.space not in ("shared", "local"):
        return -1, -1
    chosen = int(trace.blocks[0]) if block is None else block
    if chosen not in trace.blocks:
        raise NoElementError(f"block {chosen} did not run, so it has no {label}; choose another block.")
    if buffer.space == "shared":
        return chosen, -1
    own = 0 if thread is None else thread
    if not 0 <= own < trace.threads:
        last = coordinates_text(trace.threads - 1, trace.block_dim)
        raise NoElementError(f"{block_text(trace, chosen)} has no thread {own}; its last thread is {last}.")
    return chosen, own
