"""A figure in the terminology of another model: work-groups for blocks. Titles of kernels stay. No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial

from msgspec.structs import replace

from ....kernels.scenarios.catalogue import find, scenarios
from ....kernels.scenarios.scenario import WORK_ITEM_WORDS
from ...model.vocabulary import resolved_choice, text_in_words
from .choice import ChartSubject
from .figure import BarPanel, Figure, PointPanel, Series

Say = Callable[[str], str]


def terminology_of(choice: str, subjects: Sequence[ChartSubject]) -> str:
    """Return the terminology of a chart, "cuda" or "work-item".

    If the choice leaves it to the scenarios, it is work-items if all of them use that.
    """
    terminologies = {resolved_choice(choice, find(subject.scenario)) for subject in subjects} or {
        resolved_choice(choice, None)
    }
    return "work-item" if terminologies == {"work-item"} else "cuda"


def with_terminology(figure: Figure, words: str) -> Figure:
    """Return a figure in "cuda" or "work-item" terminology."""
    if words == "cuda":
        return figure
    say = partial(_translated, say=partial(text_in_words, words=WORK_ITEM_WORDS))
    return replace(
        figure,
        subtitle=say(figure.subtitle),
        method=say(figure.method),
        notes=tuple(map(say, figure.notes)),
        panels=tuple(
            _bars(panel, say) if isinstance(panel, BarPanel) else _plane(panel, say)
            for panel in figure.panels
        ),
    )


def _bars(panel: BarPanel, say: Say) -> BarPanel:
    bars = tuple(replace(bar, part=say(bar.part)) for bar in panel.bars)
    return replace(panel, bars=bars, axis=replace(panel.axis, label=say(panel.axis.label)))


def _plane(panel: PointPanel, say: Say) -> PointPanel:
    return replace(panel, series=tuple(_series(series, say) for series in panel.series))


def _series(series: Series, say: Say) -> Series:
    points = tuple(replace(point, text=say(point.text)) for point in series.points)
    return replace(series, part=say(series.part), points=points)


def _translated(text: str, say: Say) -> str:
    """Translate a text, except the titles in it."""
    return "".join(part if n % 2 else say(part) for n, part in enumerate(_titles().split(text)))


@cache
def _titles() -> re.Pattern[str]:
    """Return a pattern that matches the titles of kernels, the longest first."""
    titles = sorted({scenario.title for scenario in scenarios()}, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, titles))})")
