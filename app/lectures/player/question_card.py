"""The card of a question: its text, buttons for choices or a field for a number, and the answer."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QRegularExpression, QSize, Qt
from PySide6.QtGui import QKeySequence, QRegularExpressionValidator, QShortcut
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ...model.nothing import nothing
from ...model.visible_text import escape_controls
from ...widgets.icons import icon
from ...widgets.plain_text import PlainLabel
from ...widgets.theme import Theme
from ..model.quantities import MARK_TEXTS
from ..model.questions import Answer, Question
from .caption import CaptionCard, sized

LETTERS = "ABCDEF"
SMALLEST = 24  # pixels of the letters at a text scale of 1
SHORT, MIDDLE = (
    16,
    40,
)  # the longest choice, in letters, for a single row or for two columns
NUMBER = QRegularExpression(r"[-+]?[\d ,]*\.?\d*(e[-+]?\d*)?")


class QuestionState(Struct, frozen=True):
    """A question as the audience sees it, without the answer until that is revealed."""

    ask: str  # the question
    choices: tuple[str, ...]  # texts, none if a number is asked for
    chosen: int | None  # index of the choice
    right: int | None = None  # index of the choice, None before it is revealed
    answer: str = ""  # text, "" before it is revealed
    origin: str = ""  # of the answer: "exact from the trace"; "" before it is revealed
    is_revealed: bool = False  # whether the answer is shown
    hint: str = ""  # what the audience does if it neither chooses nor types


class ChoiceButton(QPushButton):
    """A choice: its letter, its wrapped text, and a sign once the answer is shown."""

    def __init__(self, letter: str, text: str) -> None:
        super().__init__()
        self.letter, self.words, self.sign = (
            PlainLabel(letter),
            PlainLabel(escape_controls(text)),
            PlainLabel(),
        )
        self.words.setWordWrap(True)
        row = QHBoxLayout(self)
        for label, share in ((self.letter, 0), (self.words, 1), (self.sign, 0)):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            row.addWidget(label, share)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """Return True: the height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the text for a width."""
        return max(self.row.totalHeightForWidth(width), self.row.totalMinimumSize().height())

    def sizeHint(self) -> QSize:
        """Return the size of the text."""
        return self.row.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size of the text."""
        return self.row.totalMinimumSize()

    @property
    def row(self) -> QHBoxLayout:
        """The layout of letter, text and sign."""
        row = self.layout()
        assert isinstance(row, QHBoxLayout)
        return row

    def show_state(self, state: str, theme: Theme, letters: int) -> None:
        """Show a state: "" before the answer, "chosen", "right", "wrong" (chosen and not right) or "other"."""
        ground, ink, edge = {
            "": ("panel", "text", "control"),
            "chosen": ("badge", "text", "accent"),
            "right": ("good", "panel", "good"),
            "wrong": ("panel", "bad", "bad"),
            "other": ("panel", "muted", "border"),
        }[state]
        palette = theme.palette
        width, pad = (max(2, letters // 10), letters // 3)
        self.setStyleSheet(
            f"QPushButton {{ background: {getattr(palette, ground)}; border: {width}px solid "
            f"{getattr(palette, edge)}; border-radius: {letters // 3}px; padding: 0px; min-height: 0px; }}"
            f"QPushButton:focus {{ border: {width}px solid {palette.text}; }}"
            f"QLabel {{ color: {getattr(palette, ink)}; }}"
        )
        self.row.setContentsMargins(pad + width, pad // 2 + width, pad + width, pad // 2 + width)
        self.row.setSpacing(pad)
        self.letter.setFont(sized(theme, letters, bold=True))
        self.words.setFont(sized(theme, letters, bold=state == "right"))
        picture = {"right": "check", "wrong": "close"}.get(state, "")
        side = round(0.9 * letters)
        self.sign.setFixedWidth(side)  # reserved, so that the layout does not change with the answer
        self.sign.clear()
        if picture:
            self.sign.setPixmap(icon(picture, theme.colour(ink)).pixmap(side, side))
        description = {"chosen": "chosen", "right": "the right answer", "wrong": "chosen, not right"}.get(
            state, ""
        )
        self.setAccessibleName(
            ", ".join(filter(None, (f"{self.letter.text()}: {self.words.text()}", description)))
        )


class QuestionCard(CaptionCard):
    """Shows a question in large letters. chosen: the index of a choice, by button or key. revealed: show the answer."""

    def __init__(self, theme: Theme, asked: QuestionState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chosen: Callable[[int], object] = nothing
        self.revealed: Callable[[], object] = nothing
        self.theme, self.asked, self.size_of_letters = theme, asked, theme.px(SMALLEST)
        self.question = PlainLabel(escape_controls(asked.ask))
        self.question.setWordWrap(True)
        self.answer = PlainLabel()
        self.answer.setWordWrap(True)
        self.buttons = [ChoiceButton(LETTERS[i], text) for i, text in enumerate(asked.choices)]
        self.field = QLineEdit()
        self.column = QVBoxLayout(self)
        self.column.addWidget(self.question)
        self._build_choices() if self.buttons else self._build_field()
        self._show()

    def _build_choices(self) -> None:
        self.grid = QGridLayout()
        longest = max(len(text) for text in self.asked.choices)
        columns = len(self.buttons) if longest <= SHORT else 2 if longest <= MIDDLE else 1
        for i, choice in enumerate(self.buttons):
            self.grid.addWidget(choice, i // columns, i % columns)
            choice.clicked.connect(lambda _checked, i=i: self.chosen(i))
            key = QShortcut(QKeySequence(str(i + 1)), self)
            key.setContext(Qt.ShortcutContext.WindowShortcut)
            key.activated.connect(lambda i=i: self.chosen(i))
        for column in range(columns):
            self.grid.setColumnStretch(column, 1)
        self.column.addLayout(self.grid)
        self.field.hide()

    def _build_field(self) -> None:
        self.field.setValidator(QRegularExpressionValidator(NUMBER, self.field))
        self.field.setAccessibleName("Your answer")
        self.field.setPlaceholderText("a number")
        self.field.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.field.returnPressed.connect(lambda: self.revealed())
        self.row = QHBoxLayout()
        self.row.addWidget(self.field)
        self.row.addWidget(self.answer, 1)
        self.column.addLayout(self.row)

    def show_asked(self, asked: QuestionState) -> None:
        """Update the same question: the choice and the answer."""
        self.asked = asked
        self._show()

    def set_theme(self, theme: Theme) -> None:
        """Apply colours and text size."""
        self.theme = theme
        self._show()

    def set_letters(self, pixels: int) -> None:
        """Set the font size in pixels, at least that of a small window."""
        pixels = max(pixels, self.theme.px(SMALLEST))
        if pixels != self.size_of_letters:
            self.size_of_letters = pixels
            self._show()

    def _show(self) -> None:
        letters, theme, asked = self.size_of_letters, self.theme, self.asked
        self.column.setContentsMargins(0, letters // 3, 0, 0)
        self.column.setSpacing(letters // 3)
        self.question.setFont(sized(theme, letters, bold=True))
        for i, choice in enumerate(self.buttons):
            choice.show_state(_state(asked, i), theme, letters)
            # A disabled button would show its sign in grey.
            choice.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, asked.is_revealed)
            choice.setFocusPolicy(Qt.FocusPolicy.NoFocus if asked.is_revealed else Qt.FocusPolicy.TabFocus)
        if self.buttons:
            self.grid.setSpacing(letters // 3)
        else:
            self._show_number(letters)
        (
            self.grid if self.buttons else self.row
        ).invalidate()  # otherwise a nested layout keeps its old height
        self.column.invalidate()

    def _show_number(self, letters: int) -> None:
        theme, asked = self.theme, self.asked
        self.field.setFont(sized(theme, letters, bold=True))
        self.field.setFixedWidth(9 * letters)
        self.answer.setFont(sized(theme, letters, bold=True))
        self.field.setReadOnly(asked.is_revealed)
        self.field.setVisible(not asked.hint)
        if not asked.is_revealed:
            self.answer.setText(asked.hint)
            self.answer.setStyleSheet(f"color: {theme.palette.muted};")
            return
        grade = "" if asked.hint else verdict(number_of(self.field.text()), number_of(asked.answer))
        self.answer.setText(f"{grade}{asked.answer}{f', {asked.origin}' * bool(asked.origin)}")
        ink = theme.palette.bad if grade == "No: " else theme.palette.good
        self.answer.setStyleSheet(f"color: {ink};")


def question_state(
    question: Question, answer: Answer | None, chosen: int | None, *, is_revealed: bool
) -> QuestionState:
    """Build the state of a question. answer: None if it can't be computed. chosen: index of a choice."""
    wording = answer.wording if answer else question.wording(None)
    state = QuestionState(wording.ask, wording.choices, chosen, hint=wording.hint)
    if answer is None or not is_revealed:
        return state
    origin = f"{MARK_TEXTS.get(answer.quantity.mark, '')} {answer.quantity.origin}".strip()
    return replace(state, right=answer.right, answer=answer.text, origin=origin, is_revealed=True)


def _state(asked: QuestionState, i: int) -> str:
    """Return the state of a choice."""
    if not asked.is_revealed:
        return "chosen" if i == asked.chosen else ""
    return "right" if i == asked.right else "wrong" if i == asked.chosen else "other"


def number_of(text: str) -> float | None:
    """Parse the number at the start of a text, None without one."""
    word = text.replace(",", "").strip().split(" ")[0]
    try:
        return float(word)
    except ValueError:
        return None


def verdict(guess: float | None, answer: float | None) -> str:
    """Grade a guess, "" without one; "Near" is within a tenth of the answer."""
    if guess is None or answer is None:
        return ""
    if guess == answer:
        return "Right: "
    return "Near: " if abs(guess - answer) <= 0.1 * abs(answer) else "No: "
