"""What a step changes against the step before: the lines of its block, read, said and taken over."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict, replace

from ...kernels.scenarios.catalogue import CatalogueError
from ...kernels.scenarios.suggestions import did_you_mean
from ...tracer.model.plan import PlanError
from ...tracer.model.whole_numbers import whole_number_of
from ..gpu.place import gpu_place_text, is_gpu, parse_gpu_place
from ..model.bookmark import Bookmark, Link, NearestChoice, PictureChoice, Setup, TimeChoice, WordChoice
from ..model.first_bookmark import setups_of
from ..model.setup_launch import launch_of_setup
from ..model.spotlight import parse_spotlight, split_names
from .expressions import ExpressionError
from .places import Place, PlaceError, parse_place
from .questions import Question, parse_question

LONGEST = 1000  # characters of a line
PANELS = ("source", "thread", "warp", "findings", "explain", "code", "none")
COLOURS = ("auto", "value", "reads", "waste", "conflicts", "races")
PANES = ("left", "right")
COLOUR_WORDS = {"wasted": "waste"}  # for those of a bookmark, where they differ
QUESTION_KEYS = ("ask", "choices", "answer")


class Play(Struct, frozen=True):
    """To play from a step's place to another one."""

    to: Place  # where it stands then
    seconds: float | None = None  # that it takes, None where `speed` says
    speed: float | None = None  # moments a second; None for what suits the launch


class ProgramLaunch(Struct, frozen=True):
    """A launch of a program that lies beside the lecture and runs once somebody agrees."""

    file: str  # its name, relative to the lecture's folder
    launch: int  # from 1


class EditedKernel(Struct, frozen=True):
    """A scenario with another text of its kernel's file, which lies beside the lecture; it needs consent to run."""

    file: str  # the text's name, relative to the lecture's folder
    spec: str  # the scenario with its parameters and options, `source` among them

    def setup(self, folder: Path) -> Setup:
        """Return what a pane runs, once somebody agreed; raises PlanError where the file can't be read."""
        return setups_of([self.spec.replace(f"source={self.file}", f"source={folder / self.file}")])[0]


Pane = Setup | ProgramLaunch | EditedKernel


class Element(Struct, frozen=True):
    """An element of a buffer, by the buffer's name and an index."""

    buffer: str  # as the panes call it
    index: tuple[int, ...]  # as many as it has dimensions


class StepChange(Struct, frozen=True):
    """What a step changes; None leaves a thing as it was."""

    show: tuple[Pane, ...] | None = None  # from left to right
    at: Place | None = None  # where in time
    play: Play | None = None  # after that, in this step alone
    focus: int | None = None  # pane
    block: int | None = None  # linear number
    thread: int | None = None  # linear number in its block
    element: Element | None = None  # whose writer is looked at
    panel: str | None = None  # of PANELS
    colour: str | None = None  # of COLOURS
    picture: PictureChoice | None = None  # memory or histogram
    zoom: tuple[str, ...] | None = None  # buffers, () for all
    chart: str | None = None  # "" for none
    spotlight: tuple[str, ...] | None = None  # in this step alone
    link: Link | None = None  # how panes go together
    time: TimeChoice | None = None  # what timelines show
    nearest: NearestChoice | None = None  # whether a pane that was not measured names the nearest launch
    compiled: Literal["shown", "hidden"] | None = None  # whether counters as compiled are shown
    speed: float | Literal["auto"] | None = None  # moments a second, auto for what suits the launch
    words: WordChoice | None = None  # for threads and blocks
    question: Question | None = None  # asked in this step


class ChangeError(Exception):
    """A line of a step that can't be read; the text is one sentence."""


def parse_line(text: str, folder: Path) -> dict[str, Any]:
    """Return the fields of a StepChange that a line sets; raises ChangeError.

    text: "key: value", or a place alone. folder: of the lecture, where its files are.
    """
    if len(text) > LONGEST:
        raise ChangeError(f"A line of a step has at most {LONGEST:,} characters, not {len(text):,}.")
    key, colon, value = (part.strip() for part in text.partition(":"))
    try:
        if colon and key in READERS:
            return {key: READERS[key](value, folder)}
        return {"at": parse_place(text)} if not colon or key not in QUESTION_KEYS else {key: value}
    except (CatalogueError, PlanError, PlaceError, ExpressionError, ValueError) as error:
        known = not colon or key in READERS or '"' in text
        raise ChangeError(str(error) if known else _unknown(key)) from None


def _unknown(key: str) -> str:
    return f"{key!r} is nothing that a step can change{did_you_mean(key, [*READERS, *QUESTION_KEYS])}"


def is_change(text: str, folder: Path) -> bool:
    """Return whether a line in backticks is meant as a change: it has a known key, or is a place."""
    if text.partition(":")[0].strip() in (*READERS, *QUESTION_KEYS) and ":" in text:
        return True
    if len(text) > LONGEST:
        return False
    try:
        parse_place(text)
    except PlaceError:
        return False
    return True


def parse_change(lines: Mapping[int, str], folder: Path) -> tuple[StepChange, list[tuple[int, str]]]:
    """Return the change that numbered lines describe, and (line, sentence) of each that can't be read."""
    found: dict[str, Any] = {}
    problems: list[tuple[int, str]] = []
    where: dict[str, int] = {}
    for number, text in lines.items():
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            new = parse_line(text.strip(), folder)
            twice = next((key for key in new if key in found), "")
            if twice:
                raise ChangeError(f"{twice} is said twice in this step; leave one out.")
        except ChangeError as error:
            problems.append((number, str(error)))
            continue
        found |= new
        where |= dict.fromkeys(new, number)
    asked = {key: found.pop(key, "") for key in QUESTION_KEYS}
    try:
        question = parse_question(asked["ask"], asked["choices"], asked["answer"])
    except (ExpressionError, ValueError) as error:
        question = None
        problems.append((max(where.get(key, 0) for key in QUESTION_KEYS), str(error)))
    return StepChange(**found, question=question), problems


def _shown(value: str, folder: Path) -> tuple[Pane, ...]:
    words = value.split()
    if not 1 <= len(words) <= 2:
        raise ValueError(f"one or two scenarios are shown, not {len(words)}.".capitalize())
    return tuple(_pane(word, folder) for word in words)


def _pane(word: str, folder: Path) -> Pane:
    if found := re.fullmatch(r"([^:]+\.py)(?::launch=(\d{1,6}))?", word):
        _inside(found[1], folder)
        return ProgramLaunch(found[1], int(found[2] or 1))
    if word.endswith(".npz"):
        return Setup(file=str(_inside(word, folder)))
    if found := re.search(r"[:,]source=([^,]+)", word):
        _inside(found[1], folder)
        edited = EditedKernel(found[1], word)
        launch_of_setup(edited.setup(folder))
        return edited
    from ...tracer.model.plan import launch_of, parse_spec

    scenario, values, options = parse_spec(word)
    launch_of(scenario, values, **options)
    return setups_of([word])[0]


def _inside(name: str, folder: Path) -> Path:
    """Return the path of a file beside the lecture; raises ValueError where it is not one."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name} must lie in the folder of the lecture or below it.")
    if not (folder / path).is_file():
        raise ValueError(f"There is no file {name} beside the lecture.")
    return (folder / path).absolute()


def _play(value: str, _: Path) -> Play:
    found = re.fullmatch(r"to (.+?)(?: (over) (\d+(?:\.\d+)?) ?s| (at) (\d+(?:\.\d+)?))?", value)
    if not found:
        raise ValueError(f"{value!r} can't be played; write for example: play: to end over 5 s.")
    place = parse_place(found[1])
    if found[2]:
        return Play(place, seconds=_between(found[3], 0.1, 600, "seconds"))
    return Play(place, speed=_between(found[5], 0.1, 1e6, "moments a second") if found[4] else None)


def _between(text: str, low: float, high: float, what: str) -> float:
    number = float(text)
    if not low <= number <= high:
        raise ValueError(f"There may be {low:g} to {high:,.0f} {what}, not {text}.")
    return number


def _one_of(*known: str) -> Callable[[str, Path], str]:
    def read(value: str, _: Path) -> str:
        if value not in known:
            raise ValueError(f"{value!r} is not known here{did_you_mean(value, known)}")
        return value

    return read


def _focus(value: str, folder: Path) -> int:
    return PANES.index(_one_of(*PANES)(value, folder))


def _colour(value: str, folder: Path) -> str:
    """Return the bookmark's word for what colours cells."""
    return "wasted" if value in ("waste", "wasted") else _one_of(*COLOURS)(value, folder)


def _number(value: str, _: Path) -> int:
    number = whole_number_of(value)
    if number is None or number >= 2**31:
        raise ValueError(f"{value!r} is no whole number from 0 on.")
    return number


def _element(value: str, _: Path) -> Element:
    found = re.fullmatch(r"(\w+) ?\[([\d, ]+)\]", value)
    numbers = [whole_number_of(part.strip()) for part in found[2].split(",")] if found else [None]
    index = tuple(number for number in numbers if number is not None)
    if not found or len(index) != len(numbers):
        raise ValueError(f"{value!r} is no element; write for example C[2, 3].")
    return Element(found[1], index)


def _names(value: str, _: Path) -> tuple[str, ...]:
    return () if value in ("all", "none", "") else split_names(value)


def _spotlight(value: str, folder: Path) -> tuple[str, ...]:
    names = _names(value, folder)
    parse_spotlight(names)
    return names


def _chart(value: str, _: Path) -> str:
    if value == "none":
        return ""
    if is_gpu(value):
        return gpu_place_text(parse_gpu_place(value))
    from ..charts.choice_text import parse_choice  # with charts, which the window needs later

    parse_choice(value)
    return value


def _speed(value: str, _: Path) -> float | Literal["auto"]:
    if value == "auto":
        return "auto"
    try:
        return _between(value, 0.1, 1e6, "moments a second")
    except ValueError:
        raise ValueError(f"{value!r} is no speed; write moments a second, such as 8, or auto.") from None


Reader = Callable[[str, Path], Any]
READERS: Final[dict[str, Reader]] = {
    "show": _shown,
    "at": lambda value, _: parse_place(value),
    "play": _play,
    "focus": _focus,
    "block": _number,
    "thread": _number,
    "element": _element,
    "panel": _one_of(*PANELS),
    "colour": _colour,
    "picture": _one_of(*get_args(PictureChoice)),
    "zoom": _names,
    "chart": _chart,
    "spotlight": _spotlight,
    "link": _one_of(*get_args(Link)),
    "time": _one_of(*get_args(TimeChoice)),
    "nearest": _one_of(*get_args(NearestChoice)),
    "compiled": _one_of("shown", "hidden"),
    "speed": _speed,
    "words": _one_of(*get_args(WordChoice)),
}


def merged(first: StepChange, second: StepChange) -> StepChange:
    """Return both changes, of which the second has the last word."""
    said = {name: value for name, value in asdict(second).items() if value is not None}
    return replace(first, **said)


def look_said(shown: Bookmark, wanted: Bookmark) -> dict[str, str]:
    """Return what has to be said for a look to become another, apart from the spotlight, which each step has anew."""
    said: dict[str, str] = {}
    if shown.focus != wanted.focus:
        said["focus"] = PANES[wanted.focus]
    if panel_of(shown) != panel_of(wanted):
        said["panel"] = panel_of(wanted)
    if shown.colour_by != wanted.colour_by:
        said["colour"] = COLOUR_WORDS.get(wanted.colour_by, wanted.colour_by)
    if shown.picture != wanted.picture:
        said["picture"] = wanted.picture
    if shown.zoom != wanted.zoom:
        said["zoom"] = ", ".join(wanted.zoom) or "all"
    if shown.chart != wanted.chart:
        said["chart"] = wanted.chart or "none"
    if shown.link != wanted.link:
        said["link"] = wanted.link
    if shown.time != wanted.time:
        said["time"] = wanted.time
    if shown.nearest != wanted.nearest:
        said["nearest"] = wanted.nearest
    if (shown.compiled == "shown") != (wanted.compiled == "shown"):
        said["compiled"] = "shown" if wanted.compiled == "shown" else "hidden"
    if shown.speed != wanted.speed:
        said["speed"] = "auto" if wanted.speed is None else f"{wanted.speed:g}"
    if shown.words != wanted.words:
        said["words"] = wanted.words
    return said


def panel_of(look: Bookmark) -> str:
    """Return what stands beside the pictures, "none" where nothing does."""
    return "none" if look.side == "hidden" else look.tab


def changed_look(look: Bookmark, change: StepChange) -> Bookmark:
    """Return a look after a change of everything but what runs, where it stands, and what stands out."""
    said = {
        "focus": change.focus, "colour_by": change.colour, "picture": change.picture, "zoom": change.zoom,
        "chart": change.chart, "link": change.link, "time": change.time, "nearest": change.nearest,
        "compiled": change.compiled, "words": change.words,
    }  # fmt: skip
    look = replace(look, **{key: value for key, value in said.items() if value is not None})
    if change.speed is not None:
        look = replace(look, speed=None if change.speed == "auto" else change.speed)
    if change.panel is not None:
        shown = change.panel != "none"
        look = replace(look, side="shown" if shown else "hidden")
        look = replace(look, tab=change.panel) if shown else look
    return look
