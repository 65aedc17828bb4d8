"""The bar at the top: what each pane runs. It asks for other setups; the window decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import cast

import msgspec
from PySide6.QtCore import QPoint, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QLabel, QPushButton, QWidget

from ..kernels.catalogue import CatalogueError, Parameter, Scenario, settle
from ..tracer.launch import Schedule
from ..tracer.plan import Kind
from .bookmark import Setup
from .controls import HEADING, Chip, Combo, button, paint_icon
from .fields import Choice, Field, Number, chips, field_of, merged, parse_blocks, parse_resident, show_blocks
from .flow import FlowLayout
from .theme import Theme

TYPING = 150  # milliseconds without a key after which what was typed counts
Groups = Mapping[str, tuple[Scenario, ...]]  # scenarios under their headings
SIDES = ("Left", "Right")
SCHEDULES = ("lockstep", "sequential", "random")


class Toolbar(QFrame):
    """Scenario, parameters and schedule of the panes.

    setups_asked: the user wants these setups. problem: a field cannot be used, one sentence; "" when all can.
    """

    setups_asked = Signal(object)
    problem = Signal(str)

    def __init__(self, groups: Groups, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("bar")
        self.groups = groups
        self.scenarios = {scenario.name: scenario for group in groups.values() for scenario in group}
        self.setups: tuple[Setup, ...] = ()
        self.focus, self.shared = 0, True
        self.fields: dict[str, QWidget] = {}
        self._chips: list[Chip] = []
        self._side_chips: list[Chip] = []
        self._parameters: list[Parameter] = []
        self._wait = QTimer(self, singleShot=True, interval=TYPING)
        self._wait.timeout.connect(self.ask)
        self._build()

    def _build(self) -> None:
        self.flow = FlowLayout(self)
        self.flow.setContentsMargins(12, 8, 12, 8)
        self.brand = QLabel("Tilescope")
        self.brand.setObjectName("brand")
        self.flow.add(self.brand)
        self.sides = [Combo(f"{side} scenario") for side in SIDES]
        for i, (side, combo) in enumerate(zip(SIDES, self.sides, strict=True)):
            combo.picked.connect(partial(self.pick, i))
            self._side_chips.append(Chip(side, [combo]))
            self.flow.add(self._side_chips[-1])
        self._build_options()
        tip = "Schedule, seed, resident blocks, chosen blocks, files"
        self.more = button("Schedule and more", tip, "down", run=self._open)
        tip = "Times measured on a GPU, as charts (Ctrl+6)"
        self.timings = button("Timings", tip, text="Timings")
        self.menu: QPushButton = button("Menu", "Menu (F10)", "menu")
        self.flow.add(self.more)
        self.flow.add(self.timings, right=True)
        self.flow.add(self.menu, right=True)

    def _build_options(self) -> None:
        """Make the schedule's fields, and the panel behind the button More."""
        self.schedule = Choice("Schedule")
        self.schedule.offer([(kind, kind) for kind in SCHEDULES], "lockstep")
        self.schedule.picked.connect(lambda _: self.ask())
        self.options = {"seed": Number("Seed", 6), "resident": Number("Resident blocks", 6)}
        self.options["blocks"] = Number("Blocks to run", 16)
        for field in self.options.values():
            field.textEdited.connect(lambda _: self._wait.start())
            field.editingFinished.connect(self._finish)
        self.same = QCheckBox("Change both panes alike")
        self.same.setAccessibleName("Change both panes alike")
        self.same.toggled.connect(self._share)
        self.panel = QFrame(self)
        self.panel.setObjectName("panel")
        self.panel.setWindowFlag(self.windowType().Popup)
        self.form = QFormLayout(self.panel)
        self.form.addRow("Schedule", self.schedule)
        for label, name in (("Seed", "seed"), ("Resident blocks", "resident"), ("Blocks to run", "blocks")):
            self.form.addRow(label, self.options[name])
        self.form.addRow(self.same)

    def parameters(self) -> list[Parameter]:
        """Return the parameters that have a field here."""
        return self._parameters

    def put(self, name: str, text: str) -> None:
        """Set a parameter as if the user had typed it."""
        self._field(name).put(text)
        self.ask()

    def side_name(self, i: int) -> str:
        """Return what a side is called in a sentence: its scenario's title, or its file."""
        return self.sides[i].currentText()

    def _share(self, shared: bool) -> None:
        self.shared = shared

    def _open(self) -> None:
        self.panel.adjustSize()
        self.panel.move(self.more.mapToGlobal(QPoint(0, self.more.height() + 4)))
        self.panel.show()
        self.schedule.setFocus()

    def set_terse(self, terse: bool) -> None:
        """Leave the program's name to the title of the window, and the sides to their order, or show them."""
        self.brand.setVisible(not terse)
        for chip in self._side_chips:
            chip.caption.setVisible(not terse)

    def set_theme(self, theme: Theme) -> None:
        """Take colours and text size."""
        for target in self.findChildren(QPushButton):
            paint_icon(target, theme)
        for entry in self.findChildren(Number):
            entry.refit()
        self.flow.setSpacing(theme.px(8))

    def show_setups(self, setups: tuple[Setup, ...], focus: int, shared: bool) -> None:
        """Show what the panes run; the fields are those of the pane in focus where the panes differ."""
        self._wait.stop()
        self.setups, self.focus, self.shared = setups, min(focus, len(setups) - 1), shared
        for i, combo in enumerate(self.sides):
            self._show_side(i, combo)
        self._make_fields()
        self._fill(setups[self.focus])
        self.same.blockSignals(True)
        self.same.setChecked(shared)
        self.same.setEnabled(len(setups) > 1)
        self.same.blockSignals(False)

    def _show_side(self, i: int, combo: Combo) -> None:
        setup = self.setups[i] if i < len(self.setups) else None
        items: list[tuple[str, object]] = []
        for heading, group in self.groups.items():
            items += [(heading, HEADING), *((s.title, s.name) for s in group)]
        if setup is not None and setup.file:
            items.insert(0, (Path(setup.file).name, ""))
        if i == 1:
            items.append(("none: one pane", None))
        combo.offer(items, None if setup is None else "" if setup.file else setup.scenario)

    def _make_fields(self) -> None:
        """Make the controls of the scenarios' parameters, unless they stand there already."""
        chosen = [
            self.scenarios[s.scenario] for s in self.setups if s.scenario in self.scenarios and not s.file
        ]
        parameters = merged(p for scenario in chosen for p in scenario.parameters)
        if parameters == self._parameters:
            return
        self._drop_fields()
        self._parameters = parameters
        self.fields = {p.name: field_of(p, self._wait.start, self._finish, self.ask) for p in parameters}
        self._chips = chips([p for p in parameters if not p.file], self.fields)
        for i, chip in enumerate(self._chips):
            self.flow.insert(3 + i, chip)
        for row, p in enumerate(p for p in parameters if p.file):
            self.form.insertRow(row, p.label, self.fields[p.name])

    def _shown(self) -> list[Scenario]:
        """Return the scenarios of the panes, that in focus first."""
        setups = (self.setups[self.focus], *self.setups)
        return [self.scenarios[s.scenario] for s in setups if s.scenario in self.scenarios and not s.file]

    def _drop_fields(self) -> None:
        for chip in self._chips:
            self.flow.removeWidget(chip)
            chip.deleteLater()
        for p in self._parameters:
            if p.file:
                self.form.removeRow(self.fields[p.name])

    def _fill(self, setup: Setup) -> None:
        for p in self._parameters:
            held = next((s.values[p.name] for s in (setup, *self.setups) if p.name in s.values), p.default)
            self._field(p.name).put(str(held))
        self.schedule.put(setup.schedule.kind)
        count = 0 if setup.blocks is None else len(setup.blocks)
        part = f", {count:,} block{'s' * (count != 1)}" if count else ""
        self.more.setText(setup.schedule.kind + part)
        self.options["seed"].put(str(setup.schedule.seed))
        self.options["resident"].put("auto" if setup.resident is None else str(setup.resident))
        self.options["blocks"].put(show_blocks(setup.blocks))

    def _field(self, name: str) -> Field:
        return cast(Field, self.fields[name])

    def pick(self, side: int, name: object) -> None:
        """Take another scenario for a side, None for one pane; parameters of the same name are kept."""
        if name == "":
            return
        setups = list(self.setups)
        if name is None:
            setups = setups[:1]
        else:
            like = setups[min(side, len(setups) - 1)]
            scenario = self.scenarios[str(name)]
            values = {p.name: like.values[p.name] for p in scenario.parameters if p.name in like.values}
            kept = {k: v for k, v in values.items() if not _refusal(partial(settle, scenario, {k: v}))}
            new = msgspec.structs.replace(
                like, scenario=scenario.name, values=kept, blocks=None, file="", rerun=False
            )
            setups[side : side + 1] = [new]
        self.setups_asked.emit(tuple(setups))

    def _finish(self) -> None:
        """Take what was typed at once when the field is left."""
        if self._wait.isActive():
            self.ask()

    def ask(self) -> None:
        """Check every field, mark the wrong ones and say what is wrong, else ask for the setups."""
        self._wait.stop()
        problems = [*self._check_parameters(), *self._check_options()]
        self.problem.emit(problems[0] if problems else "")
        if not problems:
            targets = range(len(self.setups)) if self.shared else [self.focus]
            self.setups_asked.emit(
                tuple(self._changed(s) if i in targets else s for i, s in enumerate(self.setups))
            )

    def _check_parameters(self) -> list[str]:
        problems = []
        for name in self.fields:
            takers = [s for s in self._shown() if name in (p.name for p in s.parameters)]
            texts = {name: self._field(name).text()}
            refusals = [_refusal(partial(settle, scenario, texts)) for scenario in takers]
            sentence = next(filter(None, refusals), "")
            self._field(name).mark(sentence)
            problems += [sentence] * bool(sentence)
        return problems

    def _check_options(self) -> list[str]:
        checks: dict[str, Callable[[str], object]] = {
            "seed": _seed,
            "resident": parse_resident,
            "blocks": parse_blocks,
        }
        problems = []
        for name, check in checks.items():
            field = self.options[name]
            sentence = _refusal(partial(check, field.text()))
            field.mark(sentence)
            problems += [sentence] * bool(sentence)
        return problems

    def _changed(self, setup: Setup) -> Setup:
        schedule = Schedule(cast(Kind, self.schedule.text()), _seed(self.options["seed"].text()))
        scenario = self.scenarios.get(setup.scenario)
        texts = {p.name: self._field(p.name).text() for p in self._parameters}
        known = (
            {}
            if scenario is None
            else {p.name: texts[p.name] for p in scenario.parameters if p.name in texts}
        )
        return msgspec.structs.replace(
            setup,
            rerun=bool(setup.file),
            values=setup.values if scenario is None else settle(scenario, known),
            schedule=schedule,
            resident=parse_resident(self.options["resident"].text()),
            blocks=parse_blocks(self.options["blocks"].text()),
        )


def _seed(text: str) -> int:
    if not (text.isdecimal() and int(text) < 2**31):
        raise ValueError(f"The seed must be a whole number from 0 on, not {text!r}.")
    return int(text)


def _refusal(attempt: Callable[[], object]) -> str:
    """Return "" when the call succeeds, else the sentence that it is refused with."""
    try:
        attempt()
    except (CatalogueError, ValueError) as error:
        return str(error)
    return ""
