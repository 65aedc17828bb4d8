"""A figure as a Python script that draws it with matplotlib."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.axis import Axis
from ...model.visible_text import escape_controls
from .figure import BarPanel, Figure, PointPanel

HEAD = '''"""{title}

{facts}
"""

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, {number}, figsize=({width}, 4.5), squeeze=False, layout="constrained")
figure.suptitle({name!r})
'''


def script_text(figure: Figure) -> str:
    """Return the script. It contains every drawn number and shows the figure."""
    facts = (figure.subtitle, *figure.origins, figure.method, *figure.notes)
    lines = (escape_controls(text) for text in facts if text)
    plain = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    title = escape_controls(figure.title).replace("\\", "\\\\").replace('"', "'")
    number = max(len(figure.panels), 1)
    head = HEAD.format(title=title, facts=plain, number=number, width=8 * number, name=figure.title)
    return "\n".join((head, *_panels(figure), "plt.show()", ""))


def _panels(figure: Figure) -> Iterator[str]:
    for number, panel in enumerate(figure.panels):
        yield f"plot = axes[0][{number}]"
        yield from _bars(panel) if isinstance(panel, BarPanel) else _points(panel)
        yield ""


def _bars(panel: BarPanel) -> Iterator[str]:
    unit = panel.axis.per_unit
    names = [", ".join(filter(None, (bar.datum.name, bar.part))) for bar in panel.bars]
    values = [bar.value / unit for bar in panel.bars]
    low = [(bar.value - bar.low) / unit for bar in panel.bars]
    high = [(bar.high - bar.value) / unit for bar in panel.bars]
    yield f"names = {names!r}"
    yield f"values = {values!r}"
    yield f"bars = plot.barh(range(len(names)), values, xerr=({low!r}, {high!r}), capsize=3)"
    yield f"plot.bar_label(bars, {[bar.text for bar in panel.bars]!r}, padding=6)"
    yield "plot.set_yticks(range(len(names)), names)"
    yield "plot.invert_yaxis()"
    if panel.reference is not None:
        yield f'plot.axvline({panel.reference / unit!r}, color="black")'
    for row, bar in enumerate(panel.bars):
        if bar.published:
            xs = [mark.microseconds / unit for mark in bar.published]
            yield f'plot.plot({xs!r}, {[row] * len(xs)!r}, "kD")  # published'
    yield from _axis("x", panel.axis)


def _points(panel: PointPanel) -> Iterator[str]:
    x_unit, y_unit = panel.x.per_unit, panel.y.per_unit
    for series in panel.series:
        xs = [point.x / x_unit for point in series.points]
        ys = [point.y / y_unit for point in series.points]
        low = [(point.y - point.low) / y_unit for point in series.points]
        high = [(point.high - point.y) / y_unit for point in series.points]
        yield f'plot.errorbar({xs!r}, {ys!r}, ({low!r}, {high!r}), marker="o", label={series.full_name!r})'
    ends = [point.x for series in panel.series for point in series.points] or [1.0]
    for roof in panel.roofs:
        ridge = roof.gflop_per_s / roof.gb_per_s
        corners = [min(*ends, ridge) / 4, ridge, 4 * max(*ends, ridge)]
        rates = [min(x * roof.gb_per_s, roof.gflop_per_s) for x in corners]
        yield f'plot.plot({corners!r}, {rates!r}, "k-", label={f"{roof.name}, {roof.dtype}"!r})'
    for level in panel.levels:
        yield f'plot.axhline({level.value / y_unit!r}, color="gray", linestyle="--", label={level.text!r})'
    yield "plot.legend()"
    yield from _axis("x", panel.x)
    yield from _axis("y", panel.y)


def _axis(name: str, axis: Axis) -> Iterator[str]:
    marks = ", ".join(": ".join(filter(None, (part, mark))) for mark, part in axis.marks)
    label = f"{axis.label}, {axis.unit}" if axis.unit not in ("", "×") else axis.label
    yield f"plot.set_{name}label({f'{label} ({marks})' if marks else label!r})"
    if axis.log:
        yield f'plot.set_{name}scale("log", base={2 if axis.doubles else 10})'
