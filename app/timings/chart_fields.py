"""The row of fields above a chart: kind of time, size, blocks, baseline and axis, as far as the chart uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from ..model.nothing import nothing
from ..widgets.controls import Chip, Combo
from ..widgets.flow_layout import FlowLayout
from ..widgets.theme import Theme, check_box_palette, check_box_sheet
from ..widgets.translation import translate_widget
from .model.choice import (
    Choice,
    Sight,
    chosen_rows,
    over_parameter_of,
    parameters_to_draw_over,
    problem_for,
    problems,
    shapes,
)
from .model.sources import Source
from .model.wording import SHORT, shape_of

USED = {
    "bars": ("kind", "problem", "shape", "axis", "published"),
    "ladder": ("kind", "problem", "shape", "axis", "published"),
    "cublas": ("kind", "problem", "shape", "axis"),
    "speedup": ("kind", "problem", "shape", "against", "axis"),
    "scaling": ("kind", "shape", "axis"),
    "over": ("over", "kind", "problem", "shape", "axis"),
    "roofline": ("kind", "problem", "shape", "axis"),
    "calls": ("problem", "shape", "axis", "published"),
    "copies": ("problem", "shape", "axis", "published"),
}
LABELS = {
    "over": "Over",
    "kind": "Time",
    "problem": "Size",
    "shape": "Blocks",
    "against": "Compared with",
    "axis": "Axis",
}
AXES: tuple[tuple[str, bool | None], ...] = (("automatic", None), ("linear", False), ("logarithmic", True))


class ChartFields(QFrame):
    """Shows and edits the choice of a chart; `changed` is called only for changes by the user."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.changed: Callable[[], object] = nothing
        self.choice, self.theme = Choice(), theme
        self.flow = FlowLayout(self)
        self.combos = {name: Combo(label) for name, label in LABELS.items()}
        self.chips = {name: Chip(LABELS[name], [combo]) for name, combo in self.combos.items()}
        for name, chip in self.chips.items():
            self.combos[name].picked = partial(self._change, name)
            self.flow.add(chip)
        self.published = QCheckBox("Published figures")
        self.published.setToolTip("Times from the documents that the kernels come from, each with its GPU")
        self.published.toggled.connect(lambda on: self._change("published", on))
        self.flow.add(self.published)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use another theme and text size."""
        self.theme = theme
        self.published.setPalette(check_box_palette(theme))
        self.published.setStyleSheet(check_box_sheet("QCheckBox", theme))
        self.flow.setContentsMargins(theme.px(12), theme.px(10), theme.px(12), theme.px(4))
        self.flow.setSpacing(theme.px(8))

    def _change(self, name: str, value: object) -> None:
        changes: dict[str, Any] = {"log": value} if name == "axis" else {name: value}
        self.choice = replace(self.choice, sight=Sight(), **changes)
        self.changed()

    def show_choice(self, choice: Choice, sources: Sequence[Source], titles: dict[str, str]) -> None:
        """Offer the possible values for a choice. titles: of the subjects, by key."""
        self.choice = choice
        kinds = [kind for kind in SHORT if kind != "cpu" or choice.kind == "cpu"]
        self.combos["kind"].offer([(SHORT[kind], kind) for kind in kinds], choice.kind)
        over = over_parameter_of(sources, choice) if choice.chart == "over" else ""
        names = parameters_to_draw_over(sources, choice) if choice.chart == "over" else []
        self.combos["over"].offer([(name, name) for name in dict.fromkeys((*names, over)) if name], over)
        problem = problem_for(sources, choice)
        offered = [(self.theme.translate(text), text) for text in problems(sources, choice)]
        self.combos["problem"].offer(offered, problem)
        self._offer_shapes(choice, sources)
        against = choice.against if choice.against in titles else next(iter(titles), "")
        self.combos["against"].offer([(title, key) for key, title in titles.items()], against)
        self.combos["axis"].offer(AXES, choice.log)
        with QSignalBlocker(self.published):
            self.published.setChecked(choice.published)
        widgets: dict[str, QWidget] = {**self.chips, "published": self.published}
        for name, widget in widgets.items():
            widget.setVisible(name in USED[choice.chart])
        translate_widget(self, self.theme.translate)
        self.flow.invalidate()

    def _offer_shapes(self, choice: Choice, sources: Sequence[Source]) -> None:
        """Offer the launch shapes. The first is each kernel's default: it is named if all share it."""
        rows = [
            m.row
            for _, measured_rows in chosen_rows(sources, replace(choice, shape=""))
            for m in measured_rows
        ]
        defaults = {shape_of(row) for row in rows} - {""}
        first = next(iter(defaults)) if len(defaults) == 1 else ""
        text = f"{_brief(first)} (default)" if first else "default for each kernel"
        others = [shape for shape in shapes(sources, choice) if shape != first or shape == choice.shape]
        extra = [] if choice.chart == "scaling" else ["all"]
        offered = [(text, ""), *((_brief(shape), shape) for shape in (*others, *extra))]
        selected = choice.shape if choice.shape in [value for _, value in offered] else ""
        self.combos["shape"].offer(
            [(self.theme.translate(label), value) for label, value in offered], selected
        )


def _brief(shape: str) -> str:
    """Return a launch shape without the word "blocks"."""
    return shape.removeprefix("blocks of ")
