"""The fields of the dialog: content, look and kind of file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from PySide6.QtWidgets import QComboBox, QFormLayout, QFrame, QLineEdit, QWidget

from ..model.nothing import nothing
from ..widgets.controls import Combo, mark
from ..widgets.plain_text import PlainLabel, plain_tip
from .kinds import FASTEST, KINDS, PAGE, Kind, unavailable_reason
from .model.wanted import HOLD, FilmOptions, Part, Theme

NAMES = {
    ".mp4": "MP4 video",
    ".webm": "WebM video",
    ".gif": "GIF",
    ".webp": "WebP animation",
    ".html": "Web page",
    "": "Folder of PNG files",
}
SIZES = ((1280, 720), (1280, 800), (1600, 900), (1920, 1080))
SCALES = (1.0, 1.5, 2.0)
PHASES = 12  # offered in the list; others can be typed
SECONDS, FAST = 600.0, 1e9  # the largest valid hold and speed


class FieldDefaults(NamedTuple):
    """The initial values of the fields."""

    now: float  # the playhead's moment
    phases: int  # of the selected block
    speed: float  # moments per second
    size: tuple[int, int]  # of the window
    theme: Theme
    text_size: float
    captioned: bool  # whether there is a caption


class FilmFields(QFrame):
    """The user's choices. changed: called at every change."""

    def __init__(self, offer: FieldDefaults, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.changed: Callable[[], object] = nothing
        self.offer = offer
        self.kind, self.theme, self.part = Combo("File"), Combo("Theme"), Combo("Part")
        self.begin, self.end = Combo("From"), Combo("To")
        self.caption = Combo("Caption")
        self.points, self.scale = Combo("Size"), Combo("Pixels per point")
        self.speed, self.rate, self.hold = QLineEdit(), QLineEdit(), QLineEdit()
        self._fill_fields()
        self._build()
        for combo in (self.kind, self.theme, self.part, self.caption, self.points, self.scale):
            combo.picked = lambda _: self._report_change()
        for combo in (self.begin, self.end):
            combo.currentTextChanged.connect(lambda _: self._report_change())
        for entry in (self.speed, self.rate, self.hold):
            entry.textChanged.connect(lambda _: self._report_change())

    def _fill_fields(self) -> None:
        offer = self.offer
        self._offer_kinds()
        self.theme.offer([("light", "light"), ("dark", "dark")], offer.theme)
        self.part.offer([("the window", "window"), ("the memory pictures", "memory")], "window")
        self.caption.offer([("shown", True), ("hidden", False)], offer.captioned)
        sizes = dict.fromkeys([offer.size, *SIZES])
        texts = {size: f"{size[0]} x {size[1]}" for size in sizes}
        texts[offer.size] += ", as the window"
        self.points.offer([(text, size) for size, text in texts.items()], offer.size)
        self.scale.offer([(f"{scale:g}", scale) for scale in SCALES], 1.0)
        for combo, chosen in ((self.begin, "start"), (self.end, "end")):
            combo.setEditable(True)
            combo.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            combo.offer(self._places(), chosen)
            combo.setToolTip('Or type a moment such as 24, or "end of phase 2"')
        self.speed.setText(f"{offer.speed:g}")
        self.rate.setPlaceholderText(str(self.chosen_kind().usual_rate))
        self.hold.setText(f"{HOLD:g}")

    def _offer_kinds(self) -> None:
        """Offer the kinds of files; disable those that can't be written here, with the reason."""
        kinds = [*KINDS[:-1], PAGE, KINDS[-1]]
        reasons = {kind.suffix: unavailable_reason(kind) for kind in kinds}
        texts = [
            (f"{NAMES[k.suffix]}, needs PyAV" if reasons[k.suffix] else NAMES[k.suffix], k.suffix)
            for k in kinds
        ]
        usual = ".gif" if reasons[".mp4"] else ".mp4"
        tips: dict[object, str] = {suffix: why for suffix, why in reasons.items()}  # noqa: C416
        self.kind.offer(texts, usual, tips)
        for i, kind in enumerate(kinds):
            if reasons[kind.suffix]:
                self.kind.disable(i)

    def _places(self) -> list[tuple[str, object]]:
        phases = [f"phase {i}" for i in range(min(self.offer.phases, PHASES))]
        plain = [(text, text) for text in ("start", "first load", *phases, "end")]
        return [*plain[:1], (f"now, moment {self.offer.now:.0f}", self.offer.now), *plain[1:]]

    def _build(self) -> None:
        form = QFormLayout(self)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        rows: Sequence[tuple[str, QWidget]] = (
            ("File", self.kind), ("Show", self.part), ("Caption", self.caption), ("From", self.begin), ("To", self.end),
            ("Moments per second", self.speed), ("Seconds at the end", self.hold),
            ("Frames per second", self.rate), ("Size", self.points), ("Pixels per point", self.scale),
            ("Theme", self.theme),
        )  # fmt: skip
        for text, field in rows:
            label = PlainLabel(text)
            label.setBuddy(field)
            field.setAccessibleName(text)
            form.addRow(label, field)
        self.form = form
        self._show_rows()

    def _show_rows(self) -> None:
        """Show the fields that apply to the chosen kind of file."""
        is_page = self.chosen_kind() is PAGE
        for field in (self.part, self.hold, self.rate, self.points, self.scale, self.theme):
            self.form.setRowVisible(field, not is_page)
        self.form.setRowVisible(self.caption, self.offer.captioned and not is_page)

    def _report_change(self) -> None:
        self._show_rows()
        self.rate.setPlaceholderText(str(self.chosen_kind().usual_rate))
        self.changed()

    def choose_kind(self, suffix: str) -> None:
        """Choose a kind of file by its suffix."""
        self.kind.choose(suffix)
        self._report_change()

    def chosen_kind(self) -> Kind:
        """Return the kind of file."""
        suffix = self.kind.currentData()
        return next(kind for kind in (*KINDS, PAGE) if kind.suffix == suffix)

    def wanted(self) -> FilmOptions | None:
        """Return the choices; None if a number is invalid, which its field then shows."""
        speed = _number(self.speed, 0.01, FAST, "a number above 0")
        hold = _number(self.hold, 0, SECONDS, f"seconds, up to {SECONDS:.0f}")
        rate = _number(self.rate, 1, FASTEST, f"an integer from 1 to {FASTEST}", integer=True)
        if speed is None or hold is None or (rate is None and self.rate.text().strip()):
            return None
        return FilmOptions(
            begin=_place(self.begin), end=_place(self.end), speed=speed, hold=hold,
            rate=None if rate is None else int(rate),
            size=cast(tuple[int, int], tuple(self.points.currentData())), scale=self.scale.currentData(),
            theme=cast(Theme, self.theme.currentData()), text_size=self.offer.text_size,
            part=cast(Part, self.part.currentData()), captions=bool(self.caption.currentData()),
        )  # fmt: skip


def _place(combo: Combo) -> str | float:
    """Return the chosen or typed anchor."""
    text = combo.currentText().strip()
    i = combo.findText(text)
    return cast(str | float, combo.itemData(i)) if i >= 0 else text


def _number(
    entry: QLineEdit, low: float, high: float, expected: str, *, integer: bool = False
) -> float | None:
    """Parse the number in a field; if it is invalid, mark the field with the expected range."""
    text = entry.text().strip()
    try:
        number: float | None = float(text)
    except ValueError:
        number = None
    right = number is not None and low <= number <= high and not (integer and number != int(number))
    wrong = not right and bool(text or not entry.placeholderText())
    entry.setToolTip(plain_tip(f"It must be {expected}." if wrong else ""))
    mark(entry, "invalid", wrong)
    return number if right else None
