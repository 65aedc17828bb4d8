"""The steps of a lecture for a replay: captions as text trees, questions with answers, charts, showings."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from msgspec.structs import replace
from PySide6.QtGui import QPainter

from ..gpu_timelines.model.place import is_gpu
from ..lectures.model.captions import FilledCaption
from ..lectures.model.quantities import MARK_TEXTS
from ..lectures.player.step_picture import NO_PICTURE, ResolvedStep
from ..model.visible_text import escape_controls
from ..timings.drawing.view import draw_figure, wanted_height
from ..timings.model.build import build
from ..timings.model.choice import Sight
from ..timings.model.choice_text import parse_choice
from ..timings.model.figure import Figure, number_texts
from ..timings.model.sources import default_sources, sources
from ..timings.model.vocabulary import terminology_of, with_terminology
from ..widgets.theme import Theme
from .document import ReplayDocument
from .frames import THEMES
from .paint_recorder import Picture, record_drawing
from .showing import COMPLETE, Showing, speed_of

CHART_WIDTHS = 480, 1000  # logical pixels: for a phone and for a screen
NO_GPU = (
    "This step shows a GPU's timeline, which is available only in Tilescope's window, pictures and films."
)
LOWEST_CHART = 360  # logical pixels


def add_lecture_step(
    document: ReplayDocument, standing: ResolvedStep, speed: float | None = None, limit: int = COMPLETE
) -> None:
    """Add a step at its final moment: its texts, and its showing, its chart, or the reason for neither.

    speed: moments per second, None for the step's. limit: see `ReplayDocument.add_step`.
    """
    texts: dict[str, Any] = {
        "title": escape_controls(standing.step.title),
        **caption_data(standing.caption()),
    }
    answer = standing.answer()
    if answer is not None:
        mark, wording = answer.quantity.mark, answer.wording
        texts["question"] = {
            "ask": escape_controls(wording.ask),
            "choices": [escape_controls(choice) for choice in wording.choices],
            "hint": escape_controls(wording.hint),
            "answer": escape_controls(answer.text),
            "right": answer.right,
            "mark": mark,
            "origin": escape_controls(f"{MARK_TEXTS.get(mark, '')} {answer.quantity.origin}".strip()),
        }
    if is_gpu(standing.scene.look.chart):
        document.add_step(texts | {"note": NO_GPU}, None)
    elif standing.scene.look.chart:
        document.add_step(texts | {"chart": _chart(document, standing)}, None)
    elif standing.moment is None:
        document.add_step(texts | {"note": NO_PICTURE}, None)
    else:
        showing = showing_of(standing)
        document.add_step(texts, replace(showing, speed=speed or showing.speed), limit)


def showing_of(standing: ResolvedStep) -> Showing:
    """Return the showing of a step with sessions."""
    scene, moment, sessions = standing.scene, standing.moment, tuple(standing.sessions)
    assert moment is not None
    speed, play = speed_of(scene.look, max(session.end for session in sessions)), scene.play
    if play is not None and play.seconds:
        speed = max(0.1, (moment.stand - moment.begin) / play.seconds)
    elif play is not None and play.speed:
        speed = play.speed
    look = replace(scene.look, panes=standing.setups)
    return Showing(standing.setups, sessions, look, moment, speed, is_played=moment.stand > moment.begin)


def caption_data(caption: FilledCaption) -> dict[str, Any]:
    """Serialise a caption for JSON: text trees, and the origins of its numbers."""
    return {"caption": trees_of(caption.html), "foot": escape_controls(caption.foot)}


def trees_of(text: str) -> list[Any]:
    """Parse the simple rich text of captions into trees: ["p", "text", ["b", "bold"]]."""
    reader = _TreeReader()
    reader.feed(text)
    reader.close()
    return reader.open[0][1:]


class _TreeReader(HTMLParser):
    """Reads elements into lists: the name, then texts and elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[list[Any]] = [[""]]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        element = [tag]
        self.open[-1].append(element)
        if tag != "br":
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if len(self.open) > 1:
            self.open.pop()

    def handle_data(self, text: str) -> None:
        self.open[-1].append(text)


def _chart(document: ReplayDocument, standing: ResolvedStep) -> dict[str, Any]:
    """Serialise the chart of a step: its drawings, and every number in words."""
    measurements, _ = sources()
    choice = parse_choice(standing.scene.look.chart, measurements)
    figure = with_terminology(
        build(default_sources(measurements), choice),
        terminology_of(standing.scene.look.words, choice.subjects),
    )
    return {
        "title": escape_controls(f"{figure.title}. {figure.subtitle}"),
        "numbers": [
            escape_controls(text) for text in (*number_texts(figure), figure.method, *figure.notes) if text
        ],
        "forms": [_chart_form(document, figure, choice.sight, width) for width in CHART_WIDTHS],
    }


def _chart_form(document: ReplayDocument, figure: Figure, sight: Sight, width: int) -> dict[str, Any]:
    """Draw a chart in a width; return its size and its drawing."""
    light, dark = (Theme.named(name, document.form.text_size) for name in THEMES)
    height = max(LOWEST_CHART, wanted_height(figure, width, light))
    in_light, in_dark = (_drawn(figure, sight, (width, height), theme) for theme in (light, dark))
    return {"size": [width, height], "drawing": document.drawings.add(in_light, in_dark)}


def _drawn(figure: Figure, sight: Sight, size: tuple[int, int], theme: Theme) -> Picture:
    def draw(painter: QPainter) -> None:
        draw_figure(painter, figure, size, theme, sight)

    return record_drawing(draw, *size)
