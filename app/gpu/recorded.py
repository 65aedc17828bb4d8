"""Which recorded timelines there are of what a pane shows: its own, the nearest, and how their sizes are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log2

from msgspec import Struct

from ...kernels.scenarios.catalogue import CatalogueError, Scenario, find, settle
from ...tracer.hardware.timeline import Timeline, TimelineHead
from ...tracer.model.launch import Dim3
from ..model.bookmark import Setup
from ..model.session import Session

Values = dict[str, int | str]
SIDES = (("m", "k", "n"), ("rows", "cols"))  # parameters that are the sides of matrices
CONTENTS = ("input", "a", "b")  # which change nothing that a clock would show much


class PaneLaunch(Struct, frozen=True):
    """What a pane shows, as far as a recording may be of it."""

    scenario: str  # its name, "" of a kernel that is in no catalogue
    title: str  # of the scenario, or of the kernel
    values: Values | None  # of the parameters, all of them; None where a trace file does not say them
    grid: Dim3 | None = None  # blocks, where the launch is known
    block: Dim3 | None = None  # threads
    changed: bool = False  # whether another text runs than the catalogue's


class Recorded(Struct, frozen=True, eq=False):
    """A timeline that was recorded, and what its size is called beside others of its kernel."""

    timeline: Timeline
    size: str  # 1,024 or 4,096 × 4,096, tile 8
    word: str  # the same as a word of a place: 1024


def launch_of_pane(setup: Setup, session: Session | None) -> PaneLaunch:
    """Return what a pane shows."""
    launch = session.launch if session else None
    name = setup.scenario or (launch.scenario if launch else "")
    try:
        scenario = find(name)
        values = None if setup.file else settle(scenario, setup.values)
    except CatalogueError:
        return PaneLaunch("", session.title if session else "", None)
    grid, block = (launch.grid, launch.block) if launch else (None, None)
    changed = setup.is_edited or not (session is None or session.runs_as_shipped)
    return PaneLaunch(name, scenario.title, values, grid, block, changed)


def recorded_of(scenario: str, timelines: Sequence[Timeline]) -> list[Recorded]:
    """Return the timelines of a scenario from the smallest launch on, each with what tells it from the others."""
    mine = sorted(
        (t for t in timelines if t.head.scenario == scenario), key=lambda t: (t.blocks, t.head.date)
    )
    differ = _differing([timeline.head.values for timeline in mine])
    texts = [size_text(timeline.head.values, differ) for timeline in mine]
    return [
        Recorded(
            timeline, text + f", {timeline.head.date[:10]}" * (texts.count(text) > 1), _word(text, texts, i)
        )
        for i, (timeline, text) in enumerate(zip(mine, texts, strict=True))
    ]


def _word(text: str, texts: Sequence[str], i: int) -> str:
    word = re.sub(r"[^\w]+", "-", text.replace(",", "").replace(" × ", "x")).strip("-")
    return f"{word}.{texts[:i].count(text) + 1}" if texts.count(text) > 1 else word


def size_text(values: Values, differ: Sequence[str] = ()) -> str:
    """Return a size in few words: 1,024, or 256 × 512 × 256, tile 8; `differ`: parameters that tell it from others."""
    sides = next((names for names in SIDES if all(name in values for name in names)), ())
    parts = [f"{values[name]:,}" for name in sides]
    size = parts[0] if len(set(parts)) == 1 else " × ".join(parts)
    if not sides and "count" in values:
        size = f"{values['count']:,} elements"
    known = (*sides, *CONTENTS) if sides else ("count", *CONTENTS)
    others = [_said(name, values[name]) for name in differ if name in values and name not in known]
    return ", ".join(filter(None, (size, *others))) or "one size"


def _said(name: str, value: int | str) -> str:
    """Return a parameter in words: tile 8, float64."""
    return f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else value


def own_recording(asked: PaneLaunch, recorded: Sequence[Recorded]) -> Recorded | None:
    """Return the latest timeline of just what a pane shows, None where there is none."""
    if asked.changed:
        return None
    return next((one for one in reversed(recorded) if _is_of(one.timeline.head, asked)), None)


def _is_of(head: TimelineHead, asked: PaneLaunch) -> bool:
    if asked.values is None:
        return head.grid == asked.grid and head.block == asked.block
    return all(head.values.get(name) == value for name, value in asked.values.items() if name not in CONTENTS)


def nearest(asked: PaneLaunch, recorded: Sequence[Recorded]) -> Recorded | None:
    """Return the timeline of the scenario's launch that is nearest in size, the first of those that are as near."""
    return min(
        recorded, key=lambda one: _distance(asked.values or {}, one.timeline.head.values), default=None
    )


def _distance(asked: Values, values: Values) -> tuple[int, float]:
    """Return how far parameters are apart: how many words differ, and octaves between numbers."""
    pairs = [(value, values.get(name)) for name, value in asked.items() if name not in CONTENTS]
    words = sum(a != b for a, b in pairs if isinstance(a, str) or isinstance(b, str))
    octaves = [
        abs(log2((max(a, 0) + 1) / (max(b, 0) + 1)))
        for a, b in pairs
        if isinstance(a, int) and isinstance(b, int)
    ]
    return words, sum(octaves)


def missing_text(asked: PaneLaunch, recorded: Sequence[Recorded]) -> str:
    """Return one sentence on why a pane has no timeline, with the sizes that there are."""
    if not asked.scenario:
        return "No GPU's clock was recorded for this kernel: only those of the catalogue can be."
    if never := _never(find(asked.scenario)):
        return never
    heads = [one.timeline.head.values for one in recorded]
    near = nearest(asked, recorded)
    beside = near.timeline.head.values if near else {}
    differ = [name for name, value in (asked.values or {}).items() if beside.get(name, value) != value]
    sizes = _listed(list(dict.fromkeys(size_text(values, [*_differing(heads), *differ]) for values in heads)))
    there_is = f"; recorded: {sizes}" if sizes else " in any size"
    if asked.changed:
        return f"No GPU's clock was recorded for the kernel as it was changed here{there_is}."
    if not sizes:
        return f"No GPU's clock was recorded for {asked.title}{there_is}."
    what = f" at {size_text(asked.values, differ)}" if asked.values else " at this size"
    return f"No GPU's clock was recorded for {asked.title}{what}{there_is}."


def _differing(values: Sequence[Values]) -> list[str]:
    """Return the parameters that are not the same in all of some sizes."""
    return [name for name in (values[0] if values else {}) if len({each.get(name) for each in values}) > 1]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def command_for(asked: PaneLaunch) -> str:
    """Return the command that records what a pane shows, on a machine with a GPU; "" where none can."""
    if not asked.scenario or asked.changed or asked.values is None or _never(find(asked.scenario)):
        return ""
    default, values = settle(find(asked.scenario), {}), asked.values
    # Without parameters others would be taken: those that a scenario is measured at.
    sizes = next(
        (names for names in (*SIDES, ("count",)) if all(name in values for name in names)), (*values,)[:1]
    )
    said = [f"{name}={value}" for name, value in values.items() if value != default[name] or name in sizes]
    return f"tilescope measure --timeline {':'.join(filter(None, (asked.scenario, ','.join(said))))}"


def _never(scenario: Scenario) -> str:
    """Return why a scenario's kernel has no timeline at all, "" where it may have one."""
    if scenario.engine == "python":
        return f"{scenario.title} is a Python program, which runs on no GPU."
    if scenario.cuda_c:
        return f"{scenario.title} is written in CUDA C: marks that read the clock are put into Numba's kernels alone."
    return ""
