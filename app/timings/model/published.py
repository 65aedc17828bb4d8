"""The published figures of the source documents, each with its GPU, as marks next to measured times."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from .... import resources
from ....tracer.hardware.times.measurement import Row, TimingKind
from .figure import Published
from .wording import time_text


class PublishedTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A published time of a kernel or a baseline."""

    document: str  # the number of the document
    title: str  # the title of the document
    gpu: str  # "" for a program on the CPU
    scenario: str  # the name in the catalogue
    baseline: str  # the name of the scenario's baseline, "" for its kernel
    parameters: dict[str, int | str]  # the parameters that a row must have, by name
    kind: TimingKind
    microseconds: float  # by the host's clock


@cache
def published_times() -> tuple[PublishedTime, ...]:
    """Load all published figures."""
    text = files(resources).joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=tuple[PublishedTime, ...])


def published_for(row: Row, kind: TimingKind) -> tuple[Published, ...]:
    """List the published figures of a row.

    The documents timed calls on device data, also where they write of kernel times. Such a figure is shown for both
    kinds.
    """
    wanted = {"kernel-warm": "call", "kernel-cold": "call"}.get(kind, kind)
    fitting = [e for e in published_times() if _fits(e, row) and e.kind == wanted]
    return tuple(Published(e.microseconds, _published_text(e), e.title) for e in fitting)


def _fits(entry: PublishedTime, row: Row) -> bool:
    if (entry.scenario, entry.baseline) != (row.scenario, row.baseline):
        return False
    return all(row.parameters.get(name) == value for name, value in entry.parameters.items())


def _published_text(entry: PublishedTime) -> str:
    return f"{time_text(entry.microseconds)}, {entry.gpu or 'CPU not named'}"
