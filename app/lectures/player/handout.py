"""The handout of a lecture: a PDF of its steps as vector pictures, with captions, questions, answers and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QRectF, QSize
from PySide6.QtGui import QPageSize, QPainter, QPdfWriter, QTextDocument

from ....tracer.storage.atomic_write import write_atomically
from ...model.bookmark import Bookmark
from ...widgets.plain_text import RichDocument, markup
from ...widgets.theme import MONO, Theme
from ...widgets.widget_picture import PictureError
from ..model.captions import FilledCaption, fill_caption
from ..model.document import Lecture
from ..model.quantities import MARK_TEXTS
from ..model.questions import Answer, Wording
from ..model.scenes import Scene
from .step_picture import NO_PICTURE, ResolvedStep, StepPictures

PaperName = Literal["a4", "letter"]
PAPERS: dict[PaperName, QPageSize.PageSizeId] = {
    "a4": QPageSize.PageSizeId.A4,
    "letter": QPageSize.PageSizeId.Letter,
}
DOTS = 96  # units per inch of all lengths here
MARGIN = 54  # on all sides
FOOTER = 22  # the height of a page's footer
GAP, PART_GAP = 26, 8  # between two steps, and between the parts of one
PICTURE = QSize(1120, 668)  # pixels of the drawn window, over the full width of the page
CROWDED = 1.15  # the factor of its size for two panes with the inspector
SMALLEST = 0.62  # the smallest scale of a picture, so that two steps share a page
BODY, SMALL, HEADING, TITLE = 13, 11, 17, 26  # font sizes
BAR, INDENT = 2, 12  # the line next to the notes, and their distance from the edge
LETTERS = "ABCDEF"  # of the choices of a question


class HandoutLook(Struct, frozen=True):
    """The look of a handout."""

    paper: PaperName = "a4"
    theme: str = "light"
    notes: bool = False  # whether the speaker's notes are printed
    text_size: float = 1.0  # relative to the normal size
    answers: bool = True  # whether answers are printed, and the captions of questions, which may contain them


class _Section(Struct, frozen=True):
    """A step on paper, before it is placed."""

    number: int  # of the step, from 0
    head: QTextDocument  # its title, caption and the origins of its numbers
    below: tuple[tuple[QTextDocument, float], ...]  # question and answer, notes; each with its indent
    picture: bool  # whether it has one

    def text_height(self) -> float:
        """Compute the height without the picture."""
        below = sum(document.size().height() + PART_GAP for document, _ in self.below)
        return self.head.size().height() + below + PART_GAP * self.picture


def write_handout(
    lecture: Lecture,
    stand: Callable[[int], ResolvedStep],
    pictures: StepPictures,
    path: Path,
    look: HandoutLook,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write a lecture as a PDF, atomically; raises PictureError if it can't be written.

    stand: resolves a step by its number. progress: called with each number before the step is drawn.
    """
    content = _Handout(lecture, stand, pictures, look, progress).content()
    try:
        write_atomically(path, content)
    except OSError as error:
        raise PictureError(f"{path} could not be written: {error.strerror or error}.") from error


class _Handout:
    """Draws the pages one after the other."""

    def __init__(
        self,
        lecture: Lecture,
        stand: Callable[[int], ResolvedStep],
        pictures: StepPictures,
        look: HandoutLook,
        progress: Callable[[int], None],
    ) -> None:
        self.lecture, self.stand, self.pictures, self.look, self.progress = (
            lecture,
            stand,
            pictures,
            look,
            progress,
        )
        self.theme = Theme.named(look.theme, look.text_size)
        size = QPageSize(PAPERS[look.paper]).size(QPageSize.Unit.Point) * DOTS / 72
        self.page = QRectF(0, 0, size.width(), size.height())
        self.room = self.page.adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN - FOOTER)
        self.y, self.pages = self.room.top(), 0

    def content(self) -> bytes:
        """Return the PDF."""
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        self.writer = QPdfWriter(buffer)
        self.writer.setPageSize(QPageSize(PAPERS[self.look.paper]))
        self.writer.setPageMargins(QMarginsF())
        self.writer.setResolution(DOTS)
        self.writer.setTitle(self.lecture.title)
        self.writer.setCreator("Tilescope")
        self.painter = QPainter(self.writer)
        try:
            self.painter.setRenderHint(QPainter.RenderHint.LosslessImageRendering)
            self._draw()
        finally:
            self.painter.end()
        return bytes(buffer.data().data())

    def _draw(self) -> None:
        sections = [self._section(number) for number in range(len(self.lecture.steps))]
        self._begin_page()
        self._draw_text(self._opening())
        self.y += GAP
        while sections:
            heights = self._fitting_heights(sections)
            if not heights and self.y > self.room.top():
                self._new_page()
                continue
            for height in heights or [self._smallest_height()]:
                self._draw_section(sections.pop(0), height)
                self.y += GAP

    # Pages.

    def _begin_page(self) -> None:
        self.pages += 1
        self.y = self.room.top()
        if self.look.theme == "dark":
            self.painter.fillRect(self.page, self.theme.colour("window"))
        footer = self._document(
            f'<table width="100%"><tr><td class="muted">{markup(self.lecture.title)}</td>'
            f'<td class="muted" align="right">{self.pages}</td></tr></table>',
            SMALL,
        )
        self._draw_at(footer, self.room.bottom() + FOOTER - footer.size().height() + 8)

    def _new_page(self) -> None:
        self.writer.newPage()
        self._begin_page()

    # Layout of steps.

    def _smallest_height(self) -> float:
        return SMALLEST * self._full_height()

    def _full_height(self) -> float:
        """Return the height of a picture over the full width."""
        return self.room.width() * PICTURE.height() / PICTURE.width()

    def _fitting_heights(self, sections: Sequence[_Section]) -> list[float]:
        """List the heights of the pictures of the next steps that fit on this page: two, one, or none."""
        free = self.room.bottom() - self.y
        for count in (2, 1):
            chosen = sections[:count]
            text = sum(section.text_height() for section in chosen) + GAP * (len(chosen) - 1)
            pictures = sum(section.picture for section in chosen)
            height = min(self._full_height(), (free - text) / pictures) if pictures else 0.0
            if text <= free and (not pictures or height >= self._smallest_height()):
                return [height] * len(chosen)
        return []

    # Drawing.

    def _draw_section(self, section: _Section, height: float) -> None:
        self.progress(section.number)
        self._draw_text(section.head)
        if section.picture:
            self.y += PART_GAP
            self._draw_picture(section.number, height)
        for document, indent in section.below:
            self.y += PART_GAP
            self._draw_text(document, indent)

    def _draw_picture(self, number: int, height: float) -> None:
        if self.y + height > self.room.bottom():
            self._new_page()
        standing = self.stand(number)
        size = window_size(standing.scene)
        look = Bookmark((), theme=_theme_name(self.look), text_scale=self.look.text_size)
        self.pictures.show(standing, look, size, with_text=False, answered=self.look.answers)
        self.pictures.wait()
        scale = height / size.height()
        self.painter.save()
        self.painter.translate(self.room.left(), self.y)
        self.painter.scale(scale, scale)
        self.pictures.paint(self.painter)
        self.painter.restore()
        self.y += height

    def _draw_text(self, document: QTextDocument, indent: float = 0.0) -> None:
        """Draw a text at the current position, over several pages if needed; with a bar next to it if indented."""
        begin, end = 0.0, document.size().height()
        while begin < end:
            until = _break(document, begin, self.room.bottom() - self.y)
            if until is None:
                if self.y <= self.room.top():
                    until = end  # a line higher than a page
                else:
                    self._new_page()
                    continue
            self._draw_slice(document, begin, until, indent)
            self.y += until - begin
            begin = until

    def _draw_slice(self, document: QTextDocument, begin: float, end: float, indent: float) -> None:
        painter = self.painter
        painter.save()
        painter.translate(self.room.left(), self.y - begin)
        if indent:
            painter.fillRect(QRectF(0, begin, BAR, end - begin), self.theme.colour("border"))
            painter.translate(indent, 0)
        document.drawContents(painter, QRectF(0, begin, document.textWidth(), end - begin))
        painter.restore()

    def _draw_at(self, document: QTextDocument, y: float) -> None:
        self.painter.save()
        self.painter.translate(self.room.left(), y)
        document.drawContents(self.painter)
        self.painter.restore()

    # Texts.

    def _document(self, html: str, size: int = BODY, indent: float = 0.0) -> QTextDocument:
        theme, document = self.theme, RichDocument()
        document.setUseDesignMetrics(True)
        document.setDocumentMargin(0)
        document.setDefaultFont(theme.font(size))
        mono = ", ".join(f"'{name}'" for name in MONO)
        document.setDefaultStyleSheet(
            f"body, p, td, li {{ color: {theme.palette.text}; }} p {{ margin-top: 0px; margin-bottom: 4px; }}"
            f" .muted, sup {{ color: {theme.palette.muted}; font-size: {theme.px(SMALL)}px; }}"
            f" .accent {{ color: {theme.palette.accent}; }} code, pre {{ font-family: {mono}; }}"
        )
        document.show_html(f"<body>{html}</body>")
        document.setTextWidth(self.room.width() - indent)
        return document

    def _opening(self) -> QTextDocument:
        """Build the title and the introduction of the lecture."""
        title = f'<p style="font-size:{self.theme.px(TITLE)}px"><b>{markup(self.lecture.title)}</b></p>'
        return self._document(title + fill_caption(self.lecture.introduction, {}).html)

    def _section(self, number: int) -> _Section:
        standing = self.stand(number)
        caption, step = standing.caption(), standing.step
        if step.change.question and not self.look.answers:
            caption = FilledCaption("", "", "", ())
        head = (
            f'<p style="font-size:{self.theme.px(HEADING)}px"><b><span class="accent">{number + 1}</span>&nbsp; '
            f"{markup(step.title)}</b></p>{caption.html}"
        )
        head += f'<p class="muted">{markup(caption.foot)}</p>' if caption.foot else ""
        absent = not standing.setups
        below = (f'<p class="muted">{NO_PICTURE}</p>' if absent else "") + question_html(
            standing, self.look.answers
        )
        documents = [(self._document(below), 0.0)] if below else []
        if self.look.notes and step.spoken:
            documents.append((self._document(notes_html(standing.notes()), indent=INDENT), INDENT))
        return _Section(number, self._document(head), tuple(documents), not absent)


def notes_html(notes: FilledCaption) -> str:
    """Render the speaker's notes as HTML, with the origins of their numbers."""
    origins = f'<p class="muted">{markup(notes.foot)}</p>' if notes.foot else ""
    return f'<p class="muted">Notes</p>{notes.html}{origins}'


def question_html(standing: ResolvedStep, answered: bool) -> str:
    """Render a step's question with its choices as HTML, and its answer if `answered`; "" without one."""
    question, answer = standing.step.change.question, standing.answer()
    if question is None:
        return ""
    wording = answer.wording if answer else question.wording(None)
    asked = f'<p><b class="accent">Question</b>&nbsp; {markup(wording.ask)}</p>{choices_html(wording)}'
    if answer is None or not answered:
        return asked
    return f'{asked}<p><b class="accent">Answer</b>&nbsp; {answer_html(answer)}</p>'


def choices_html(wording: Wording) -> str:
    """Render the choices of a question as HTML, each with its letter, or its hint; "" without both."""
    choices = zip(LETTERS, wording.choices, strict=False)
    texts = [f"{letter})&nbsp;{markup(text)}" for letter, text in choices] or [markup(wording.hint)]
    return f"<p>{'&nbsp;&nbsp;&nbsp; '.join(texts)}</p>" if any(texts) else ""


def answer_html(answer: Answer) -> str:
    """Render an answer with its origin as HTML."""
    letter = "" if answer.right is None else f"{LETTERS[answer.right]}) "
    mark, origin = answer.quantity.mark, answer.quantity.origin
    source = f"{MARK_TEXTS[mark]} {origin}".strip() if mark else ""
    text = f"<b>{markup(letter + answer.text)}</b>"
    return f'{text}&nbsp; <span class="muted">{markup(source)}</span>' if source else text


def window_size(scene: Scene) -> QSize:
    """Choose the size of the window that draws a step."""
    return PICTURE * CROWDED if len(scene.panes) > 1 and scene.look.side == "shown" else PICTURE


def _theme_name(look: HandoutLook) -> Literal["light", "dark"]:
    return "dark" if look.theme == "dark" else "light"


def _break(document: QTextDocument, begin: float, room: float) -> float | None:
    """Find the end of the part of a text from `begin` that fits: the end of the text or of a line; None for none."""
    end = document.size().height()
    if end - begin <= room:
        return end
    fitting = [bottom for bottom in _line_ends(document) if begin < bottom <= begin + room]
    return max(fitting, default=None)


def _line_ends(document: QTextDocument) -> Iterator[float]:
    """Yield the bottoms of a text's lines."""
    block = document.begin()
    while block.isValid():
        top = document.documentLayout().blockBoundingRect(block).top()
        for i in range(block.layout().lineCount()):
            line = block.layout().lineAt(i)
            yield top + line.y() + line.height()
        block = block.next()
