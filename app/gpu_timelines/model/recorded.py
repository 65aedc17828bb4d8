"""Finding the recorded timelines of a pane's launch: its own, the nearest, and the names of their sizes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from math import log2

from msgspec import Struct

from ....kernels.scenarios.catalogue import CatalogueError, Scenario, find, settle
from ....tracer.hardware.recorded_timelines import is_of_program
from ....tracer.hardware.timeline import Timeline, TimelineHead
from ....tracer.model.launch import Dim3, is_cuda_cpp_launch
from ...model.bookmark import Setup
from ...model.session import Session

Values = dict[str, int | str]
SIDES = (("m", "k", "n"), ("rows", "cols"))  # parameters that are the sides of matrices
CONTENTS = ("input", "a", "b")  # parameters that hardly affect the time


class PaneLaunch(Struct, frozen=True):
    """A pane's launch, as far as it identifies a recording."""

    scenario: str  # its name, "" for a kernel outside the catalogue
    title: str  # of the scenario, or of the kernel
    values: Values | None  # of all parameters; None if a trace file lacks them
    grid: Dim3 | None = None  # in blocks, if the launch is known
    block: Dim3 | None = None  # in threads
    changed: bool = False  # the text differs from the catalogue's
    kernel: str = ""  # of a program in CUDA C++: file:function
    source: str = ""  # the text of that file


class RecordedTimeline(Struct, frozen=True, eq=False):
    """A recorded timeline with the name of its size."""

    timeline: Timeline
    size: str  # 1,024 or 4,096 × 4,096, tile 8
    word: str  # the size as a word of a place: 1024


def launch_of_pane(setup: Setup, session: Session | None) -> PaneLaunch:
    """Describe the launch of a pane."""
    launch = session.launch if session else None
    name = setup.scenario or (launch.scenario if launch else "")
    try:
        scenario = find(name)
        values = None if setup.file else settle(scenario, setup.values)
    except CatalogueError:
        title = session.title if session else ""
        if launch is None or not is_cuda_cpp_launch(launch):
            return PaneLaunch("", title, None)
        return PaneLaunch(
            "", title, None, launch.grid, launch.block, kernel=launch.kernel, source=launch.source
        )
    grid, block = (launch.grid, launch.block) if launch else (None, None)
    changed = setup.is_edited or not (session is None or session.is_unmodified)
    return PaneLaunch(name, scenario.title, values, grid, block, changed)


def recorded_of(asked: PaneLaunch, timelines: Sequence[Timeline]) -> list[RecordedTimeline]:
    """List the timelines of a launch's kernel from the smallest launch on, each with a distinct size."""
    own = sorted(
        (t for t in timelines if _is_of_kernel(t.head, asked)), key=lambda t: (t.blocks, t.head.date)
    )
    differ = _differing([timeline.head.values for timeline in own])
    texts = [
        size_text(t.head.values, differ) if asked.scenario else launch_text(t.head.grid, t.head.block)
        for t in own
    ]
    return [
        RecordedTimeline(
            timeline, text + f", {timeline.head.date[:10]}" * (texts.count(text) > 1), _word(text, texts, i)
        )
        for i, (timeline, text) in enumerate(zip(own, texts, strict=True))
    ]


def _is_of_kernel(head: TimelineHead, asked: PaneLaunch) -> bool:
    """Return True for a timeline of the launch's kernel, in any size."""
    if asked.scenario:
        return head.scenario == asked.scenario
    return bool(asked.kernel) and is_of_program(head, asked.kernel, asked.source)


def launch_text(grid: Dim3, block: Dim3) -> str:
    """Return the size of a launch as text: 4 blocks of 16 x 16 threads."""
    sizes = (" × ".join(f"{n:,}" for n in size if n > 1) or "1" for size in (grid, block))
    return "{} blocks of {} threads".format(*sizes)


def _word(text: str, texts: Sequence[str], i: int) -> str:
    word = re.sub(r"[^\w]+", "-", text.replace(",", "").replace(" × ", "x")).strip("-")
    return f"{word}.{texts[:i].count(text) + 1}" if texts.count(text) > 1 else word


def size_text(values: Values, differ: Sequence[str] = ()) -> str:
    """Return a short text of a size: 1,024, or 256 × 512 × 256, tile 8; `differ`: parameters that must be in it."""
    sides = next((names for names in SIDES if all(name in values for name in names)), ())
    parts = [f"{values[name]:,}" for name in sides]
    size = parts[0] if len(set(parts)) == 1 else " × ".join(parts)
    if not sides and "count" in values:
        size = f"{values['count']:,} elements"
    named = (*sides, *CONTENTS) if sides else ("count", *CONTENTS)
    others = [_parameter_text(name, values[name]) for name in differ if name in values and name not in named]
    return ", ".join(filter(None, (size, *others))) or "one size"


def _parameter_text(name: str, value: int | str) -> str:
    """Return a parameter as text: tile 8, float64."""
    return f"{name.replace('_', ' ')} {value:,}" if isinstance(value, int) else value


def own_recording(asked: PaneLaunch, recorded: Sequence[RecordedTimeline]) -> RecordedTimeline | None:
    """Return the latest timeline of exactly the pane's launch, or None."""
    if asked.changed:
        return None
    return next(
        (recording for recording in reversed(recorded) if _is_of(recording.timeline.head, asked)), None
    )


def _is_of(head: TimelineHead, asked: PaneLaunch) -> bool:
    if asked.values is None:
        return head.grid == asked.grid and head.block == asked.block
    return all(head.values.get(name) == value for name, value in asked.values.items() if name not in CONTENTS)


def nearest_recording(asked: PaneLaunch, recorded: Sequence[RecordedTimeline]) -> RecordedTimeline | None:
    """Return the timeline of the scenario's launch nearest in size; the first if several are equally near."""
    return min(
        recorded,
        key=lambda recording: _distance(asked.values or {}, recording.timeline.head.values),
        default=None,
    )


def _distance(asked: Values, values: Values) -> tuple[int, float]:
    """Measure the distance between parameters: differing words, and octaves between numbers."""
    pairs = [(value, values.get(name)) for name, value in asked.items() if name not in CONTENTS]
    words = sum(a != b for a, b in pairs if isinstance(a, str) or isinstance(b, str))
    octaves = [
        abs(log2((max(a, 0) + 1) / (max(b, 0) + 1)))
        for a, b in pairs
        if isinstance(a, int) and isinstance(b, int)
    ]
    return words, sum(octaves)


def missing_text(asked: PaneLaunch, recorded: Sequence[RecordedTimeline]) -> str:
    """Explain in one sentence why a pane has no timeline, with the recorded sizes."""
    if asked.kernel:
        own = f" ({_listed([recording.size for recording in recorded])} recorded)" if recorded else ""
        return f"No GPU timeline was recorded for this text and size of {asked.title}{own}."
    if not asked.scenario:
        return "No GPU timeline can be recorded for this kernel: only kernels of the catalogue and in CUDA C++ can be."
    if reason := _reason_without_timeline(find(asked.scenario)):
        return reason
    heads = [recording.timeline.head.values for recording in recorded]
    near = nearest_recording(asked, recorded)
    near_values = near.timeline.head.values if near else {}
    differ = [name for name, value in (asked.values or {}).items() if near_values.get(name, value) != value]
    sizes = _listed(list(dict.fromkeys(size_text(values, [*_differing(heads), *differ]) for values in heads)))
    available = f"; recorded: {sizes}" if sizes else " in any size"
    if asked.changed:
        return f"No GPU timeline was recorded for the kernel with your changes{available}."
    if not sizes:
        return f"No GPU timeline was recorded for {asked.title}{available}."
    size = f" at {size_text(asked.values, differ)}" if asked.values else " at this size"
    return f"No GPU timeline was recorded for {asked.title}{size}{available}."


def _differing(values: Sequence[Values]) -> list[str]:
    """List the parameters that differ between some sizes."""
    return [name for name in (values[0] if values else {}) if len({size.get(name) for size in values}) > 1]


def _listed(words: Sequence[str]) -> str:
    """Join words with commas, or with semicolons if the words contain commas."""
    if len(words) > 1 and any(", " in word for word in words):
        return f"{'; '.join(words[:-1])}; and {words[-1]}"
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def command_for(asked: PaneLaunch) -> str:
    """Return the command that records a pane's launch on a machine with a GPU; "" if none can."""
    if asked.kernel:
        return f"tilescope measure --timeline {shlex.quote(asked.kernel.rpartition(':')[0])}"
    if (
        not asked.scenario
        or asked.changed
        or asked.values is None
        or _reason_without_timeline(find(asked.scenario))
    ):
        return ""
    default, values = settle(find(asked.scenario), {}), asked.values
    # Without a size, the command would record the scenario's own sizes.
    sizes = next(
        (names for names in (*SIDES, ("count",)) if all(name in values for name in names)), (*values,)[:1]
    )
    assignments = [
        f"{name}={value}" for name, value in values.items() if value != default[name] or name in sizes
    ]
    return f"tilescope measure --timeline {':'.join(filter(None, (asked.scenario, ','.join(assignments))))}"


def _reason_without_timeline(scenario: Scenario) -> str:
    """Explain why a scenario's kernel can't have a timeline; "" if it can."""
    if scenario.engine == "python":
        return f"{scenario.title} is a Python program, which does not run on a GPU."
    if scenario.cuda_c:
        return f"{scenario.title} is written in CUDA C: only Numba kernels get the marks that read the clock."
    return ""
