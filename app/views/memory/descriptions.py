"""Descriptions of the memory view in words: pure functions of a session. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....tracer.model.trace import WARP, is_poison
from ...model.session import Selection, Session
from ..common.descriptions import index_of
from ..common.differences import expected_at
from ..common.heat import EXPLANATIONS, HEATS, element_heat
from ..common.wording import block_text, coordinates_text, count_text, element_text, plural, value_text
from .layout.sheet import is_image

SAMPLE = 128  # values that are sampled to estimate the length of their texts
APART = "lanes of a warp run apart in this order"
LONGEST = 12  # letters of an integer in a cell


def actor_text(session: Session, selection: Selection) -> str:
    """Name the selected thread's warp or, in a plain Python program, the group of threads."""
    warp = selection.thread // WARP
    if not session.is_python_program:
        return f"Warp {warp}"
    first, last = warp * WARP, min(warp * WARP + WARP, session.trace.threads) - 1
    return "Python" if last == 0 else f"Threads {first} to {last}"


def hover_text(
    session: Session, buffer: int, element: int, moment: int, selection: Selection, colour_by: str = "auto"
) -> str:
    """List an element's name, value, number of reads, heat and last writer, one per line."""
    trace, memory, copy = session.trace, session.memory, (selection.block, selection.thread)
    row = memory.writer(buffer, element, moment, *copy)
    values = memory.values(buffer, moment, *copy).ravel()
    value = values[element]
    lines = [element_text(trace.buffers[buffer], index_of(trace.buffers[buffer], element))]
    if row is None and is_poison(np.atleast_1d(value))[0]:
        lines[0] += ": not written yet"
    elif trace.value is not None and value.dtype.kind != "V":
        lines[0] += f" = {value_text(value)}"
        if is_image(trace.buffers[buffer]):  # the colour of the pixel: its first element is under the pointer
            colour = ", ".join(
                value_text(v) for v in values[element : element + trace.buffers[buffer].shape[2]]
            )
            lines.append(f"pixel ({colour})")
    if row is not None and (right := expected_at(session, buffer, element)) is not None:
        lines.append(f"NumPy has {value_text(right)} in the end")
    lines.append(f"read {plural(int(memory.reads(buffer, moment, *copy).ravel()[element]), 'time')} so far")
    if colour_by in HEATS:
        heat = int(element_heat(session, colour_by, buffer, moment, selection).ravel()[element])
        lines.append(f"{count_text(heat)} {HEATS[colour_by]} so far: {EXPLANATIONS[colour_by]}")
    if row is not None:
        lines.append(_writer_text(session, row))
    store = memory.disordered_store(buffer, element, moment, *copy)
    if store is not None:
        other = int(session.requests.moment[session.requests.request[store]])
        relation = "after" if other > moment else "before"
        lines.append(f"this access ran {relation} the write of moment {count_text(other)}: {APART}")
    return "\n".join(lines)


def _writer_text(session: Session, row: int) -> str:
    trace = session.trace
    thread, site = (
        coordinates_text(int(trace.thread[row]), trace.block_dim),
        trace.sites[int(trace.site[row])],
    )
    return f"last written by thread {thread} of {block_text(trace, int(trace.block[row]))}, line {site.line}"


def usual_values(session: Session, buffer: int, copy: tuple[int, int]) -> NDArray[Any]:
    """Sample the values of a buffer before and after the launch, with the smallest and the largest.

    copy: the block and the thread that own the copy. Records are too long for a cell and give no values.
    """
    contents = [session.memory.sampled_values(buffer, moment, *copy) for moment in (0, session.end)]
    if contents[0].dtype.kind == "V":
        return contents[0][:0]
    defined = np.concatenate([values[~is_poison(values)] for values in contents])
    order = np.argsort(defined)
    indices = np.linspace(0, len(defined) - 1, min(SAMPLE, len(defined))).astype(int)
    spread: NDArray[Any] = defined[order[np.unique(indices)]]
    if (
        spread.dtype.kind == "f" and np.isnan(contents[1]).any()
    ):  # nan may be a computed value, which must be legible
        spread = np.append(spread, spread.dtype.type(np.nan))
    return spread


def usual_texts(values: NDArray[Any], digits: int) -> tuple[frozenset[str], int | None]:
    """Format values with `digits` digits, and return the decimals of those from 1 on, None for any.

    Other values of the buffer may take more letters.
    """
    letters = LONGEST
    if values.dtype.kind == "f":
        finite = values[np.isfinite(values)]
        integer_digits = len(f"{np.abs(finite).max(initial=0):.0f}")
        letters = max(digits + 2, min(integer_digits, LONGEST)) + bool((finite < 0).any())
    decimals = _common_decimals(values, letters, digits)
    return frozenset(short_text(value, letters, digits, decimals) for value in values), decimals


def _common_decimals(values: NDArray[Any], letters: int, digits: int) -> int | None:
    """Find the decimals of values from 1 on, if some are rounded: as few as the one with the fewest."""
    if values.dtype.kind != "f":
        return None
    from_one = values[np.isfinite(values) & (np.abs(values) >= 1)]
    texts = [short_text(value, letters, digits) for value in from_one]
    rounded = [text for text, value in zip(texts, from_one, strict=True) if values.dtype.type(text) != value]
    if not rounded or any("." not in text or "e" in text for text in rounded):
        return None
    return min(len(text.partition(".")[2]) for text in rounded)


def short_text(value: np.generic, letters: int, digits: int = 4, decimals: int | None = None) -> str:
    """Format a value as precisely as `letters` letters and `digits` digits allow; integers in full.

    decimals: of values from 1 on, if they fit, so that the numbers of a buffer look alike.
    """
    if isinstance(value, np.bool_ | np.integer):
        text = value_text(value)
        return text if len(text) <= letters else "…"
    if not isinstance(value, np.floating):
        return next((t for t in (value_text(value),) if len(t) <= letters), "…")
    if decimals is not None and abs(value) >= 1 and np.isfinite(value):
        text = f"{float(value):.{decimals}f}"
        if len(text) <= letters:
            return text
    candidates = (text for n in range(digits, 0, -1) for text in _number_texts(value, n))
    return next((text for text in candidates if len(text) <= letters), "…")


def _number_texts(value: np.floating[Any], digits: int) -> Iterator[str]:
    """Yield a number with `digits` significant digits, then with `digits` digits after the point."""
    number = float(value)
    if abs(number) >= 10**digits:
        yield f"{number:.0f}"  # 268 is better than 2.7e+02, but not for 1e+30
    text = f"{number:.{digits}g}"
    is_rounded = "e" not in text and np.isfinite(number) and type(value)(text) != value
    fixed = f"{number:.{digits}f}"
    if abs(number) < 1 <= abs(float(fixed)):
        yield fixed  # 0.998 has as many decimals as its neighbours: 1.00
    if is_rounded and 1 <= abs(number) < 10:
        yield fixed  # and so has 1.024: 1.02
    yield f"{number:#.{digits}g}".removesuffix(".") if is_rounded else text  # 1.0 is rounded, 1 is exact
    if abs(number) < 1:
        is_exact = float(fixed) and type(value)(fixed) == value
        yield fixed.rstrip("0") if is_exact else fixed  # 0.00 is almost zero, 0 is zero
