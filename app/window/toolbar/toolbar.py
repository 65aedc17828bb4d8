"""The toolbar: shows the setups of the panes and requests others; the window decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, cast

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from ....kernels.scenarios.catalogue import Parameter, Scenario
from ....tracer.model.launch import Launch
from ...control.delay import Delay
from ...model.bookmark import Setup
from ...model.setup_edits import (
    FamilySizes,
    fitting_choice,
    launch_problem,
    parameter_text,
    parameters_of,
    remember_sizes,
    text_problem,
    values_of,
    with_field_texts,
    with_scenario,
)
from ...model.setup_launch import kernels_to_compile, schedule_choices
from ...model.setup_text import blocks_summary, option_texts, schedule_summary
from ...state.view_models import PANE_NAMES
from ...widgets.controls import HEADING, Chip, Combo, button, paint_icon
from ...widgets.flow_layout import FlowLayout
from ...widgets.plain_text import PlainLabel, plain_tip
from ...widgets.theme import Theme
from ...widgets.translation import translate_widget
from .drag_gesture import DragGesture, Handle, ParameterChip
from .fields import (
    ChoiceField,
    Field,
    FileField,
    NumberField,
    field_for,
    handle_for,
    merged_parameters,
    parameter_chips,
)
from .options import LaunchOptions
from .parameter_steps import Track, nearest, unit_of

LIKELY_VALUES = (
    8  # values on each side whose kernels are compiled in advance when the pointer is at a parameter
)
IDLE_DELAY = (
    1500  # idle milliseconds before the kernels of every parameter's neighbouring values are compiled
)
TYPING_DELAY = 150  # milliseconds without a key after which a text is applied
Groups = Mapping[str, tuple[Scenario, ...]]  # scenarios under their headings
ONE_PANE = "None (one pane)"


class ToolbarRequests(NamedTuple):
    """What the toolbar calls when the user asks for something."""

    change_setups: Callable[[tuple[Setup, ...]], object]
    report: Callable[[str], object]  # a sentence about an invalid field; "" if all are valid
    compile_ahead: Callable[[Sequence[Launch]], object]  # other kernels that a drag may request
    leave: Callable[[], object]  # a field
    share: Callable[[bool], object]  # whether a parameter changes in both panes at once
    drag: Callable[[tuple[Setup, ...]], object]  # a parameter to these setups
    end_drag: Callable[[], object]


class Toolbar(QFrame):
    """Scenario, parameters and schedule of the panes.

    Fields show the setup of the pane in focus and mark differences from the other one; only fields that the user
    touched are written into setups.
    """

    def __init__(self, groups: Groups, ask: ToolbarRequests, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._requests = ask
        self.setObjectName("bar")
        self.groups = groups
        self.scenarios = {scenario.name: scenario for group in groups.values() for scenario in group}
        self.setups: tuple[Setup, ...] = ()
        self.names: tuple[str, ...] = ()  # of the trace files that panes show
        self._launches_heading, self._launches = "", tuple[tuple[str, str], ...]()  # text and path of each
        self.focus, self.shared = 0, True
        self._fitting: tuple[Parameter, str] | None = (
            None  # the block that fits, if the chosen one is too large
        )
        self._has_word_captions = True  # whether lists of words have their captions
        self._more_text = "More"  # with the options that are no defaults
        self.sizes: FamilySizes = {}  # chosen last, by the family of scenarios
        self.fields: dict[str, QWidget] = {}
        self.handles: dict[str, Handle] = {}  # by parameter
        self._touched: set[str] = set()  # fields that the user has edited
        self._filled: dict[str, str] = {}  # by field, the text from the setup
        self._chips: list[Chip] = []
        self._scenario_chips: list[Chip] = []
        self._parameters: list[Parameter] = []
        self._owners: dict[str, str] = {}
        self._dragged = ""  # the parameter in a drag
        self._moved_from: tuple[tuple[Setup, ...], str] = ((), "")  # setups and text before the drag
        self._requested: tuple[Setup, ...] = ()  # the setups that the drag requests now
        self.gesture = DragGesture(self._track, self._announce_likely, self._move, ask.end_drag, self)
        self._typing_timer = Delay(self, TYPING_DELAY, self.ask)
        self._idle_timer = Delay(self, IDLE_DELAY, lambda: self._announce_likely(*self._parameters, count=1))
        self._build()

    def _build(self) -> None:
        self.flow = FlowLayout(self)
        self.flow.setContentsMargins(12, 8, 12, 8)
        self.brand = PlainLabel("Tilescope")
        self.brand.setObjectName("brand")
        self.flow.add(self.brand)
        self.scenario_combos = [Combo(f"{pane} scenario") for pane in PANE_NAMES]
        for i, (pane, combo) in enumerate(zip(PANE_NAMES, self.scenario_combos, strict=True)):
            combo.picked = partial(self.pick, i)
            combo.left = self._requests.leave
            self._scenario_chips.append(Chip(pane, [combo]))
            self.flow.add(self._scenario_chips[-1])
        self.panel = LaunchOptions(self._touch, self._finish, self)
        self.schedule, self.same, self.form = self.panel.schedule, self.panel.same, self.panel.form
        self.options = self.panel.numbers
        self.panel.closed = self._requests.leave
        self.schedule.left = self._requests.leave
        self.same.toggled.connect(self._share)
        self._build_buttons()

    def _build_buttons(self) -> None:
        self.order = Chip("Order", [self.schedule])
        tip = "Seed, resident blocks, blocks to run, files, seldom changed types"
        self.more = button("More", tip, "down", run=self._open)
        tip = "Charts of times measured on a GPU (Ctrl+6)"
        self.timings = button("Timings", tip, text="Timings")
        self.share = button("Share", "Save a picture, film, web page or handout", "share", "Share")
        self.menu: QPushButton = button("Menu", "Menu (F10)", "menu")
        self.fitting = button("A block size that fits", "", run=self._choose_fitting)
        self.fitting.setObjectName("link")
        self.fitting.hide()
        self.flow.add(self.fitting)
        self.flow.add(self.order)
        self.flow.add(self.more)
        self.flow.add(self.timings, right=True)
        self.flow.add(self.share, right=True)
        self.flow.add(self.menu, right=True)

    def _order_tabs(self) -> None:
        """Make the Tab key move from left to right, also through fields that were created later."""
        fields = [field for chip in self._chips for field in chip.notes]
        order = [
            *self.scenario_combos, *fields, self.schedule, self.more, self.timings, self.share, self.menu,
        ]  # fmt: skip
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def parameters(self) -> list[Parameter]:
        """List the parameters that have a field."""
        return self._parameters

    def put(self, name: str, text: str) -> None:
        """Set a parameter as if the user had typed it."""
        self._field(name).put(text)
        self._touch(name, True)

    def title_of(self, setup: Setup) -> str:
        """Return the title of a setup's scenario, or its file name."""
        return Path(setup.file).name if setup.file else self.scenarios[setup.scenario].title

    def _share(self, shared: bool) -> None:
        self.shared = shared
        self._requests.share(shared)

    def _open(self) -> None:
        self.panel.adjustSize()
        self.panel.move(self.more.mapToGlobal(QPoint(0, self.more.height() + 4)))
        self.panel.show()
        self.panel.first_field().setFocus()

    def fit(self, width: int) -> None:
        """Hide the program's name and captions, then captions of words, then "More", until the row fits."""
        chips = (*self._scenario_chips, self.order)
        captions = [chip.width_with(True) - chip.width_with(False) for chip in chips]
        word_chips = [chip for chip in self._chips if _chooses_words(chip)]
        words = sum(chip.width_with(True) - chip.width_with(False) for chip in word_chips)
        self.more.setText(self._more_text)
        self._show_all([self.order.caption], not self.brand.isHidden())  # as without `_fill_rows`
        self._show_all([chip.caption for chip in word_chips], self._has_word_captions)
        spare = sum(captions) + self.brand.sizeHint().width() + self.flow.spacing()
        spare += self.share.fontMetrics().horizontalAdvance(" Share")
        full = self._row_width() + words * (not self._has_word_captions)
        has_room = full + spare * self.brand.isHidden() <= width
        self._show_all([self.brand, *(chip.caption for chip in chips)], has_room)
        self.share.setText("Share" if has_room else "")
        full = self._row_width() + words * (not self._has_word_captions)
        self._has_word_captions = full <= width
        self._show_all([chip.caption for chip in word_chips], self._has_word_captions)
        if self._more_text == "More" and self._row_width() > width:
            self.more.setText("…")
            if self._row_width() > width:
                self._fill_rows(width, [self.order.caption, *(chip.caption for chip in word_chips)])
        self.updateGeometry()

    def _fill_rows(self, width: int, captions: Sequence[QWidget]) -> None:
        """Show "More" and captions if that needs no more rows than there are anyway."""
        height = self.flow.heightForWidth(width)
        self.more.setText(self._more_text)
        self._show_all(captions, True)
        self.flow.invalidate()
        if self.flow.heightForWidth(width) > height:
            self._show_all(captions, False)
            self.flow.invalidate()

    def _show_all(self, widgets: Sequence[QWidget], shown: bool) -> None:
        for widget in widgets:
            widget.setVisible(shown)

    def _row_width(self) -> int:
        """Return the width of one row; a caption that was just hidden or shown counts at once."""
        self.flow.invalidate()
        return self.flow.sizeHint().width()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.panel.set_theme(theme)
        files = [field for field in self.fields.values() if isinstance(field, FileField)]
        for target in (self.more, self.share, self.menu, *(field.clear for field in files)):
            paint_icon(target, theme)
        for entry in (*self.fields.values(), *self.options.values()):
            if isinstance(entry, NumberField):
                entry.refit()
        self.flow.setSpacing(theme.px(8))

    def speak(self, theme: Theme) -> None:
        """Translate the texts into the vocabulary of the pane in focus."""
        setup = self.setups[self.focus] if self.setups else None
        translate_widget(
            self, theme.with_words_of(self.scenarios.get(setup.scenario) if setup else None).translate
        )

    def show_setups(
        self, setups: tuple[Setup, ...], focus: int, shared: bool, names: Sequence[str] = ()
    ) -> None:
        """Show the setups of the panes; the fields show the pane in focus where the panes differ.

        names: the display names of the panes' trace files. Typed text is kept if the setups do not change.
        """
        focus = min(focus, len(setups) - 1)
        if (setups, focus) != (self.setups, self.focus):
            self._drop_edits()
        self.setups, self.focus, self.shared, self.names = setups, focus, shared, tuple(names)
        for i, combo in enumerate(self.scenario_combos):
            self._show_scenario(i, combo)
        self._make_fields()
        self._fill()
        self.panel.show_shared(shared, len(setups) > 1)

    def has_focus_in_field(self) -> bool:
        """Return True if a field of the toolbar has the focus."""
        widget = QApplication.focusWidget()
        return isinstance(widget, NumberField | Combo) and self.isAncestorOf(widget)

    def restore(self) -> None:
        """Discard typed text and show the setups again."""
        self._drop_edits()
        if self.setups:
            self._fill()

    def offer_launches(self, heading: str, launches: Sequence[tuple[str, str]]) -> None:
        """Offer launches of a program in the lists of the panes: the text and the path of each."""
        self._launches_heading, self._launches = heading, tuple(launches)
        for i, combo in enumerate(self.scenario_combos):
            self._show_scenario(i, combo)

    def _drop_edits(self) -> None:
        self._typing_timer.stop()
        self._touched.clear()
        self._filled.clear()

    def _show_scenario(self, i: int, combo: Combo) -> None:
        setup = self.setups[i] if i < len(self.setups) else None
        items: list[tuple[str, object]] = [(ONE_PANE, None)] if i == 1 else []
        for heading, group in self.groups.items():
            items += [(heading, HEADING), *((s.title, s.name) for s in group)]
        paths = [path for _, path in self._launches]
        if setup is not None and setup.file and setup.file not in paths:
            name = self.names[i] if i < len(self.names) else ""
            items.insert(i, (name or Path(setup.file).name, ""))
        if self._launches:
            items[i:i] = [(self._launches_heading, HEADING), *self._launches]
        lessons: dict[object, str] = {name: scenario.lesson for name, scenario in self.scenarios.items()}
        chosen = None if setup is None else setup.file or setup.scenario
        combo.offer(items, "" if setup and setup.file and setup.file not in paths else chosen, lessons)

    def _parameters_of(self, setup: Setup) -> list[Parameter]:
        return parameters_of(self.scenarios.get(setup.scenario), setup)

    def _values(self) -> list[dict[str, str]]:
        """List the texts of each pane's parameters, by name."""
        return [values_of(setup, self.scenarios.get(setup.scenario)) for setup in self.setups]

    def _owners_of(self) -> dict[str, str]:
        """Map each parameter that only one of two panes has to that pane."""
        values = self._values()
        names = [set(of_pane) for of_pane in values]
        return {
            n: PANE_NAMES[i].lower()
            for i, own in enumerate(names)
            for n in own
            if len(values) > 1 and n not in names[1 - i]
        }

    def _make_fields(self) -> None:
        """Create the controls of the scenarios' parameters, unless they exist already."""
        parameters = merged_parameters(p for setup in self.setups for p in self._parameters_of(setup))
        owners = self._owners_of()
        if (parameters, owners) == (self._parameters, self._owners):
            return
        self._drop_fields()
        self._parameters, self._owners = parameters, owners
        self.fields = {p.name: field_for(p, partial(self._touch, p.name), self._finish) for p in parameters}
        for field in self.fields.values():
            if isinstance(field, NumberField | ChoiceField):
                field.left = self._requests.leave
        self._chips = parameter_chips([p for p in parameters if not p.is_in_menu], self.fields, owners)
        self._show_all([c.caption for c in self._chips if _chooses_words(c)], self._has_word_captions)
        for i, chip in enumerate(self._chips):
            self.flow.insert(3 + i, chip)
            chip.show()  # Qt would do it in the next turn, after `fit` has measured the row
        handles = [
            handle for chip in self._chips if isinstance(chip, ParameterChip) for handle in chip.handles
        ]
        for row, p in enumerate(p for p in parameters if p.is_in_menu):
            handles.append(handle_for(p, self.fields[p.name]))
            self.form.insertRow(row, PlainLabel(p.label) if p.file else handles[-1], self.fields[p.name])
        self._make_draggable(handles)
        self._order_tabs()

    def _make_draggable(self, handles: list[Handle]) -> None:
        """Connect the parameters' fields and handles to the drag gesture."""
        by_field = {handle.buddy(): handle for handle in handles}
        self.handles = {
            p.name: by_field[self.fields[p.name]] for p in self._parameters if self.fields[p.name] in by_field
        }
        for p in self._parameters:
            if not p.file:
                self.gesture.watch(p, self.fields[p.name], self.handles[p.name])

    def _drop_fields(self) -> None:
        for chip in self._chips:
            self.flow.removeWidget(chip)
            chip.deleteLater()
        for p in self._parameters:
            if p.is_in_menu:
                self.form.removeRow(self.fields[p.name])
        self._drop_edits()

    def _fill(self) -> None:
        """Show the setup of the pane in focus, except in fields that the user is editing."""
        setup = self.setups[self.focus]
        self.panel.offer_schedules(schedule_choices([setup]))
        values = self._values()
        texts = {**values[1 - self.focus], **values[self.focus]} if len(values) > 1 else values[0]
        for name, text in {**texts, **option_texts(setup)}.items():
            if name not in (*self._touched, self._dragged):
                self._field(name).put(text)
                self._field(name).mark("")
                self._filled[name] = text
        summaries = " | ".join(dict.fromkeys(map(blocks_summary, self.setups))).strip(" |")
        chosen = [
            p for p in self._parameters if p.seldom and texts.get(p.name, str(p.default)) != str(p.default)
        ]
        entries = filter(None, [summaries, *(parameter_text(p, texts[p.name]) for p in chosen)])
        self._more_text = " · ".join(["More", *entries])
        self.more.setText(self._more_text)
        self._note_differences()
        self._offer_fitting()

    def _offer_fitting(self) -> None:
        """Offer the largest block that fits, if the chosen one is larger than the matrix."""
        setup = self.setups[self.focus]
        self._fitting = fitting_choice(setup, self.scenarios.get(setup.scenario))
        if self._fitting is not None and self._fitting[0].is_in_menu:
            self._fitting = None  # its field is not in sight
        self.fitting.setVisible(self._fitting is not None)
        if self._fitting is not None:
            parameter, text = self._fitting
            self.fitting.setText(f"Use {parameter.label.lower()} {text}")
            tip = f"The matrix is smaller than the chosen {parameter.label.lower()}. Click to choose {text}."
            self.fitting.setToolTip(plain_tip(tip))
            self.flow.removeWidget(self.fitting)
            chip = next(c for c in self._chips if self.fields[parameter.name] in c.notes)
            self.flow.insert(self.flow.indexOf(chip) + 1, self.fitting)

    def _choose_fitting(self) -> None:
        if self._fitting is not None:
            parameter, text = self._fitting
            self.put(parameter.name, text)

    def _note_differences(self) -> None:
        """Show the other pane's value next to each field if it differs."""
        values = self._values()
        others = values[1 - self.focus] if len(values) > 1 else {}
        for p in self._parameters:
            other_text = others.get(p.name, "") if p.name in values[self.focus] else ""
            differs = p.name in others and other_text != values[self.focus].get(p.name, other_text)
            pane = PANE_NAMES[1 - self.focus].lower()
            reach = "both panes" if self.shared else "the other pane only"
            tip = f"The {pane} pane has {other_text}. A change here applies to {reach}." if differs else ""
            for chip in self._chips:
                if self.fields[p.name] in chip.notes:
                    chip.note(self.fields[p.name], f"≠ {other_text}" if differs else "", tip)
        self._note_other_order()

    def _note_other_order(self) -> None:
        """Show the other pane's order next to this one if it differs."""
        kinds = [schedule_summary(setup.schedule) for setup in self.setups]
        other = kinds[1 - self.focus] if len(set(kinds)) > 1 else ""
        pane = PANE_NAMES[1 - self.focus].lower()
        tip = f"The {pane} pane runs in the order {other}." if other else ""
        self.order.note(self.schedule, f"≠ {other}" if other else "", tip)

    def _field(self, name: str) -> Field:
        if name == "schedule":
            return self.schedule
        return self.options[name] if name in self.options else cast(Field, self.fields[name])

    def pick(self, pane: int, name: object) -> None:
        """Choose another scenario or launch for a pane, None for a single pane; keep parameters with the same names."""
        if name == "":
            return
        setups = list(self.setups)
        self.sizes = remember_sizes(self.sizes, [*setups, *setups[pane : pane + 1]], self.scenarios)
        if name is None:
            setups = setups[:1]
        elif name in [path for _, path in self._launches]:
            setups[pane : pane + 1] = [Setup(file=str(name))]
        else:
            template, scenario = setups[min(pane, len(setups) - 1)], self.scenarios[str(name)]
            setups[pane : pane + 1] = [self._with_sizes(scenario, template)]
        self._requests.change_setups(tuple(setups))

    def close_pane(self, pane: int) -> None:
        """Close a pane; the other one remains."""
        if len(self.setups) > 1:
            self._requests.change_setups((self.setups[1 - pane],))

    def _with_sizes(self, scenario: Scenario, template: Setup) -> Setup:
        """Replace a setup's scenario; the sizes chosen last in another family return with it."""
        old = self.scenarios.get(template.scenario)
        is_same_family = old is not None and old.group == scenario.group
        return with_scenario(scenario, template, {} if is_same_family else self.sizes.get(scenario.group, {}))

    def _touch(self, name: str, at_once: bool) -> None:
        """Mark a field as edited; apply it at once, or when the typing stops."""
        self._touched.add(name)
        self.ask() if at_once else self._typing_timer.start()

    def _finish(self) -> None:
        """Apply typed text at once when the field is left."""
        if self._typing_timer.isActive():
            self.ask()

    def _track(self, parameter: Parameter, fine: bool) -> Track:
        """Create the track of a parameter's values, from its field's value or the last valid one."""
        name = parameter.name
        self._finish()
        texts = {p.name: self._field(p.name).text() for p in self._parameters}
        start = texts[name] if not self._refuses(name, texts[name]) else self._filled.get(name, "")
        return Track(parameter, start, 1 if fine else unit_of(parameter, texts), partial(self._refuses, name))

    def schedule_compiling(self) -> None:
        """Schedule the compilation of kernels for the next values, since the stage is settled."""
        self._idle_timer.start()

    def cancel_compiling(self) -> None:
        """Cancel the scheduled compilation while setups are being loaded."""
        self._idle_timer.stop()

    def _announce_likely(self, *parameters: Parameter, count: int = LIKELY_VALUES) -> None:
        """Emit the launches of neighbouring values that need other kernels, for parameters with choices.

        count: values on each side.
        """
        if self._dragged or self._typing_timer.isActive():
            return
        around = {p.name: nearest(self._track(p, False), count) for p in parameters if p.choices}
        may_come = [
            self._changed(self.setups, name, text) for name, texts in around.items() for text in texts
        ]
        if others := kernels_to_compile(self.setups, may_come):
            self._requests.compile_ahead(others)

    def _refuses(self, name: str, text: str) -> bool:
        """Return True if a text in a field is invalid for any of its target panes."""
        targets = [self.setups[i] for i in self._targets(name)]
        return bool(launch_problem(name, text, targets, self.scenarios))

    def _move(self, name: str, text: str) -> None:
        """Show a dragged value in its field and request its setups; at the start value, request the original ones."""
        if self._dragged != name:
            self._moved_from = (self._requested if self._dragged else self.setups), self._filled.get(name, "")
            self._dragged = name
        field = self._field(name)
        field.put(text)
        field.mark("")
        before, start_text = self._moved_from
        self._requested = before if text == start_text else self._changed(before, name, text)
        self._requests.drag(self._requested)

    def _changed(self, setups: Sequence[Setup], name: str, text: str) -> tuple[Setup, ...]:
        targets = self._targets(name)
        return tuple(
            with_field_texts(setup, self.scenarios.get(setup.scenario), {name: text} if i in targets else {})
            for i, setup in enumerate(setups)
        )

    def end_drag(self) -> None:
        """End the drag and show the setups in its field again."""
        self._dragged = ""
        self.gesture.drop()
        if self.setups:
            self._fill()

    def _edits(self) -> dict[str, str]:
        """Return the texts of the fields that the user has edited or that differ from the setup."""
        texts = {name: self._field(name).text() for name in (*self.fields, "schedule", *self.options)}
        return {n: text for n, text in texts.items() if n in self._touched or text != self._filled.get(n)}

    def _targets(self, name: str) -> list[int]:
        """List the target panes of a field: both, the one in focus, or the only one that has the parameter."""
        panes = list(range(len(self.setups)))
        own_panes = [i for i in panes if PANE_NAMES[i].lower() == self._owners.get(name)]
        return own_panes or (panes if self.shared else [self.focus])

    def ask(self) -> None:
        """Check the edited fields and mark invalid ones; if all are valid, request the setups."""
        self._typing_timer.stop()
        edits = self._edits()
        problems = list(filter(None, [self._check(name, text) for name, text in edits.items()]))
        self._requests.report(problems[0] if problems else "")
        if not problems:
            self._requests.change_setups(tuple(self._with_edits(i, edits) for i in range(len(self.setups))))

    def _check(self, name: str, text: str) -> str:
        """Mark a field as valid or invalid; return the error, "" if valid."""
        sentence = text_problem(name, text, [self.setups[i] for i in self._targets(name)], self.scenarios)
        self._field(name).mark(sentence)
        return sentence

    def _with_edits(self, i: int, edits: Mapping[str, str]) -> Setup:
        setup = self.setups[i]
        texts = {name: text for name, text in edits.items() if i in self._targets(name)}
        return with_field_texts(setup, self.scenarios.get(setup.scenario), texts)


def _chooses_words(chip: Chip) -> bool:
    """Test if a frame is a list of words, which explain themselves without a caption."""
    fields = list(chip.notes)
    return len(fields) == 1 and isinstance(fields[0], Combo) and not fields[0].itemText(0).isdigit()
