"""The text at the crosshair of a chart."""

from __future__ import annotations

from collections.abc import Sequence

from ..model.figure import Datum


def mark_text(text: str, datum: Datum, interval: tuple[str, str], more: Sequence[str] = ()) -> str:
    """Describe a value: its interval, its sample count, its device and its date."""
    ends = f"95 % interval {interval[0]} to {interval[1]}, {len(datum.samples):,} samples"
    return "\n".join((text, ends, f"{datum.origin}, measured", *more))
