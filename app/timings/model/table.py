"""The numbers of a figure as CSV and JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from ...model.axis import Axis
from ...model.visible_text import escape_controls
from .figure import BarPanel, Datum, Figure, PointPanel

COLUMNS = (
    "kernel", "title", "device and origin", "kind", "parameters", "quantity", "unit", "value", "low", "high",
    "marks", "samples", "settled",
)  # fmt: skip


def csv_text(figure: Figure) -> str:
    """Write a CSV line for each drawn number, after title, method and origins as comments."""
    out = io.StringIO()
    for line in (figure.title, figure.subtitle, *figure.origins, figure.method, *figure.notes):
        out.write(f"# {escape_controls(line)}\n" if line else "")
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows(figure):
        parameters = " ".join(f"{name}={value}" for name, value in row["parameters"].items() if value != "")
        cells = row | {
            "parameters": parameters,
            "marks": " ".join(row["marks"]),
            "samples": len(row["samples"]),
        }
        writer.writerow({name: escape_controls(cell) for name, cell in cells.items()})
    return out.getvalue()


def json_text(figure: Figure) -> str:
    """Write everything that is drawn as JSON, with every sample in microseconds."""
    roofs = [roof for panel in figure.panels if isinstance(panel, PointPanel) for roof in panel.roofs]
    content = {
        "format": "tilescope chart",
        "chart": figure.chart,
        "title": figure.title,
        "subtitle": figure.subtitle,
        "origins": figure.origins,
        "method": figure.method,
        "notes": figure.notes,
        "numbers": list(rows(figure)),
        "roofs": [
            {
                "device": r.name,
                "copy_gb_per_s": r.gb_per_s,
                "dtype": r.dtype,
                "gflop_per_s": r.gflop_per_s,
                "reached_in": r.reached_by,
                "beside": dict(r.other_rates),
                "marks": ["measured"],
            }
            for r in roofs
        ],
        "published": list(_published(figure)),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1).decode() + "\n"


def rows(figure: Figure) -> Iterator[dict[str, Any]]:
    """Yield each drawn number with its interval, unit and marks; times are in microseconds."""
    for panel in figure.panels:
        if isinstance(panel, BarPanel):
            for bar in panel.bars:
                yield _row(bar.datum, panel.axis, bar.value, bar.low, bar.high)
        else:
            for point in (p for series in panel.series for p in series.points):
                yield _row(point.datum, panel.y, point.y, point.low, point.high)
                if panel.x.unit:
                    yield _row(point.datum, panel.x, point.x, point.x, point.x)
                for fact in point.facts:
                    axis = Axis(fact.label, fact.unit, False, ((fact.mark, ""),))
                    yield _row(point.datum, axis, fact.value, fact.value, fact.value)


def _row(datum: Datum, axis: Axis, value: float, low: float, high: float) -> dict[str, Any]:
    numbers = (axis.label, "µs" if axis.label == "time" else axis.unit, value, low, high)
    marks = [mark for mark, _ in axis.marks if mark != "published"]
    values = (datum.subject, datum.name, datum.origin, datum.kind, datum.parameters, *numbers, marks)
    return dict(zip(COLUMNS, (*values, datum.samples, datum.settled), strict=True))


def _published(figure: Figure) -> Iterator[dict[str, Any]]:
    for panel in figure.panels:
        for bar in panel.bars if isinstance(panel, BarPanel) else ():
            for mark in bar.published:
                yield {
                    "kernel": bar.datum.subject,
                    "us": mark.microseconds,
                    "told": mark.text,
                    "marks": ["published"],
                }
