"""The figures that the source documents published, each with its GPU: marks beside what was measured."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from ... import resources
from ...tracer.measure.measurement import Row, TimingKind
from .figure import Published
from .wording import time_text


class PublishedTime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A published time."""

    document: str  # its number
    title: str  # the document's
    gpu: str  # "" for a program on the CPU
    scenario: str  # the catalogue's name of it
    baseline: str  # the name of the scenario's baseline, "" for its kernel
    parameters: dict[str, int | str]  # those that a row must have, by name
    kind: TimingKind  # what was timed
    microseconds: float  # by the host's clock


@cache
def entries() -> tuple[PublishedTime, ...]:
    """Return all published figures."""
    text = files(resources).joinpath("published.json").read_bytes()
    return msgspec.json.decode(text, type=tuple[PublishedTime, ...])


def published_for(row: Row, kind: TimingKind) -> tuple[Published, ...]:
    """Return what was published for a row.

    The documents timed calls, and with what they call the kernel's time they mean a call on device data: such
    a figure stands beside calls and kernels alike.
    """
    wanted = {"kernel-warm": "call", "kernel-cold": "call"}.get(kind, kind)
    fitting = [e for e in entries() if _fits(e, row) and e.kind == wanted]
    return tuple(Published(e.microseconds, _published_text(e), e.title) for e in fitting)


def _fits(entry: PublishedTime, row: Row) -> bool:
    if (entry.scenario, entry.baseline) != (row.scenario, row.baseline):
        return False
    return all(row.parameters.get(name) == value for name, value in entry.parameters.items())


def _published_text(entry: PublishedTime) -> str:
    return f"{time_text(entry.microseconds)}, {entry.gpu or 'CPU not named'}"
