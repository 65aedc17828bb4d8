"""The change of a step against the step before: read its lines, write them, and apply them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import asdict, replace

from ....kernels.scenarios.catalogue import CatalogueError
from ....kernels.scenarios.suggestions import did_you_mean
from ....tracer.model.integers import parse_integer
from ....tracer.model.plan import PlanError
from ...gpu_timelines.model.place import gpu_place_text, is_gpu, parse_gpu_place
from ...model.bookmark import (
    Bookmark,
    Link,
    NearestChoice,
    PictureChoice,
    Setup,
    TimeChoice,
    TracedValue,
    WordChoice,
)
from ...model.explanation import parse_traced
from ...model.first_bookmark import setups_of
from ...model.setup_launch import launch_of_setup
from ...model.spotlight import parse_spotlight, split_names
from .expressions import ExpressionError
from .questions import Question, parse_question
from .time_anchors import TimeAnchor, TimeAnchorError, parse_anchor

LONGEST = 1000  # characters of a line
PANELS = ("source", "thread", "warp", "findings", "explain", "code", "why", "order", "none")
COLOURS = ("auto", "value", "reads", "waste", "conflicts", "races")
PANES = ("left", "right")
COLOUR_WORDS = {"wasted": "waste"}  # a bookmark's colour names that differ
QUESTION_KEYS = ("ask", "choices", "answer")


class Play(Struct, frozen=True):
    """Playing from a step's moment to another one."""

    to: TimeAnchor  # where it stops
    seconds: float | None = None  # duration, None if `speed` decides
    speed: float | None = None  # moments a second; None picks a speed that suits the launch


class ProgramLaunch(Struct, frozen=True):
    """A launch of a program next to the lecture, which runs once the user agrees."""

    file: str  # its name, relative to the lecture's folder
    launch: int  # from 1


class EditedKernel(Struct, frozen=True):
    """A scenario with an edited text of its kernel's file, next to the lecture; it runs once the user agrees."""

    file: str  # the text's name, relative to the lecture's folder
    spec: str  # the scenario with its parameters and options, `source` among them

    def setup(self, folder: Path) -> Setup:
        """Build the setup of the pane, after consent; raises PlanError if the file can't be read."""
        return setups_of([self.spec.replace(f"source={self.file}", f"source={folder / self.file}")])[0]


Pane = Setup | ProgramLaunch | EditedKernel


# Numbers of the pane in focus, or of the left and the right pane, where None keeps that pane's.
PaneNumbers = tuple[int] | tuple[int | None, int | None]


class Element(Struct, frozen=True):
    """An element of a buffer, by the buffer's name and an index."""

    buffer: str  # as in the panes
    index: tuple[int, ...]  # one for each dimension


class StepChange(Struct, frozen=True):
    """The change of a step; None leaves a field as it was."""

    show: tuple[Pane, ...] | None = None  # from left to right
    anchor: TimeAnchor | None = None  # the key `at`
    play: Play | None = None  # after the anchor, only in this step
    focus: int | None = None  # pane
    block: PaneNumbers | None = None  # linear number
    thread: PaneNumbers | None = None  # linear number in its block
    element: Element | None = None  # its writer is selected
    panel: str | None = None  # of PANELS
    colour: str | None = None  # of COLOURS
    picture: PictureChoice | None = None  # memory or histogram
    zoom: tuple[str, ...] | None = None  # buffers, () for all
    chart: str | None = None  # "" for none
    spotlight: tuple[str, ...] | None = None  # only in this step
    traced: TracedValue | None = None  # whose path is shown, only in this step
    link: Link | None = None  # how panes are linked
    time: TimeChoice | None = None  # what timelines show
    nearest: NearestChoice | None = None  # whether a pane without measurements names the nearest launch
    compiled: Literal["shown", "hidden"] | None = None  # whether compiled counters are shown
    speed: float | Literal["auto"] | None = None  # moments a second; auto suits the launch
    words: WordChoice | None = None  # terms for threads and blocks
    question: Question | None = None  # asked in this step


class ChangeError(Exception):
    """A line of a step can't be read; the text is one sentence."""


def parse_line(text: str, folder: Path) -> dict[str, Any]:
    """Parse a line into fields of a StepChange; raises ChangeError.

    text: "key: value", or only a place. folder: of the lecture, where its files are.
    """
    if len(text) > LONGEST:
        raise ChangeError(f"A line of a step has at most {LONGEST:,} characters, not {len(text):,}.")
    key, colon, value = (part.strip() for part in text.partition(":"))
    try:
        if colon and key in READERS:
            return {FIELDS.get(key, key): READERS[key](value, folder)}
        return {"at": parse_anchor(text)} if not colon or key not in QUESTION_KEYS else {key: value}
    except (CatalogueError, PlanError, TimeAnchorError, ExpressionError, ValueError) as error:
        is_recognised = not colon or key in READERS or '"' in text
        raise ChangeError(str(error) if is_recognised else _unknown(key)) from None


def _unknown(key: str) -> str:
    return f"{key!r} is not a key of a step{did_you_mean(key, [*READERS, *QUESTION_KEYS])}"


def is_change(text: str, folder: Path) -> bool:
    """Check whether a line in backticks is meant as a change: it has a known key, or is a place."""
    if text.partition(":")[0].strip() in (*READERS, *QUESTION_KEYS) and ":" in text:
        return True
    if len(text) > LONGEST:
        return False
    try:
        parse_anchor(text)
    except TimeAnchorError:
        return False
    return True


def parse_change(lines: Mapping[int, str], folder: Path) -> tuple[StepChange, list[tuple[int, str]]]:
    """Parse numbered lines into a change, and return (line, sentence) of each that can't be read."""
    fields: dict[str, Any] = {}
    problems: list[tuple[int, str]] = []
    where: dict[str, int] = {}
    for number, text in lines.items():
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        try:
            new = parse_line(text.strip(), folder)
            twice = next((key for key in new if key in fields), "")
            if twice:
                raise ChangeError(f"{twice} appears twice in this step; remove one.")
        except ChangeError as error:
            problems.append((number, str(error)))
            continue
        fields |= new
        where |= dict.fromkeys(new, number)
    question_texts = {key: fields.pop(key, "") for key in QUESTION_KEYS}
    try:
        question = parse_question(question_texts["ask"], question_texts["choices"], question_texts["answer"])
    except (ExpressionError, ValueError) as error:
        question = None
        problems.append((max(where.get(key, 0) for key in QUESTION_KEYS), str(error)))
    return StepChange(anchor=fields.pop("at", None), **fields, question=question), problems


def _panes(value: str, folder: Path) -> tuple[Pane, ...]:
    words = value.split()
    if not 1 <= len(words) <= 2:
        raise ValueError(f"a step shows one or two scenarios, not {len(words)}.".capitalize())
    return tuple(_pane(word, folder) for word in words)


def _pane(word: str, folder: Path) -> Pane:
    if match := re.fullmatch(r"([^:]+\.(?:py|ipynb|cu))(?::launch=(\d{1,6}))?", word):
        _inside(match[1], folder)
        return ProgramLaunch(match[1], int(match[2] or 1))
    if word.endswith(".npz"):
        return Setup(file=str(_inside(word, folder)))
    if match := re.search(r"[:,]source=([^,]+)", word):
        _inside(match[1], folder)
        edited = EditedKernel(match[1], word)
        launch_of_setup(edited.setup(folder))
        return edited
    from ....tracer.model.plan import launch_of, parse_spec

    scenario, values, options = parse_spec(word)
    launch_of(scenario, values, **options)
    return setups_of([word])[0]


def _inside(name: str, folder: Path) -> Path:
    """Return the path of a file in the lecture's folder; raises ValueError if there is none."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name} must be in the folder of the lecture or below it.")
    if not (folder / path).is_file():
        raise ValueError(f"There is no file {name} in the lecture's folder.")
    return (folder / path).absolute()


def _play(value: str, _: Path) -> Play:
    match = re.fullmatch(r"to (.+?)(?: (over) (\d+(?:\.\d+)?) ?s| (at) (\d+(?:\.\d+)?))?", value)
    if not match:
        raise ValueError(f"{value!r} can't be played; write for example: play: to end over 5 s.")
    place = parse_anchor(match[1])
    if match[2]:
        return Play(place, seconds=_between(match[3], 0.1, 600, "seconds"))
    return Play(place, speed=_between(match[5], 0.1, 1e6, "moments a second") if match[4] else None)


def _between(text: str, low: float, high: float, unit: str) -> float:
    number = float(text)
    if not low <= number <= high:
        raise ValueError(f"The range is {low:g} to {high:,.0f} {unit}, not {text}.")
    return number


def _one_of(*choices: str) -> Callable[[str, Path], str]:
    def read(value: str, _: Path) -> str:
        if value not in choices:
            raise ValueError(f"{value!r} is not known here{did_you_mean(value, choices)}")
        return value

    return read


def _focus(value: str, folder: Path) -> int:
    return PANES.index(_one_of(*PANES)(value, folder))


def _colour(value: str, folder: Path) -> str:
    """Parse a colour, and return the bookmark's name for it."""
    return "wasted" if value in ("waste", "wasted") else _one_of(*COLOURS)(value, folder)


def _pane_numbers(value: str, _: Path) -> PaneNumbers:
    """Parse 5, or numbers after the names of panes, such as left 5, right 3."""
    if value.partition(" ")[0] not in PANES:
        return (_number(value),)
    numbers: dict[str, int] = {}
    for part in value.split(","):
        pane, number = part.strip().partition(" ")[::2]
        if pane not in PANES or pane in numbers:
            raise ValueError(f"{value!r} does not name each pane once; write for example left 5, right 3.")
        numbers[pane] = _number(number.strip())
    return numbers.get(PANES[0]), numbers.get(PANES[1])


def pane_numbers_text(numbers: PaneNumbers) -> str:
    """Format numbers as in a line of a step."""
    if len(numbers) == 1:
        return str(numbers[0])
    named = zip(PANES, numbers, strict=True)
    return ", ".join(f"{pane} {number}" for pane, number in named if number is not None)


def number_in_pane(numbers: PaneNumbers | None, pane: int | None) -> int | None:
    """Return the number that a line states for a pane by its name; pane None: for the pane in focus."""
    if numbers is None or (pane is None) != (len(numbers) == 1):
        return None
    return numbers[pane or 0]


def _number(value: str) -> int:
    number = parse_integer(value)
    if number is None or number >= 2**31:
        raise ValueError(f"{value!r} is not a whole number from 0 on.")
    return number


def _element(value: str, _: Path) -> Element:
    match = re.fullmatch(r"(\w+) ?\[([\d, ]+)\]", value)
    numbers = [parse_integer(part.strip()) for part in match[2].split(",")] if match else [None]
    index = tuple(number for number in numbers if number is not None)
    if not match or len(index) != len(numbers):
        raise ValueError(f"{value!r} is not an element; write for example C[2, 3].")
    return Element(match[1], index)


def _names(value: str, _: Path) -> tuple[str, ...]:
    return () if value in ("all", "none", "") else split_names(value)


def _spotlight(value: str, folder: Path) -> tuple[str, ...]:
    names = _names(value, folder)
    parse_spotlight(names)
    return names


def _traced(value: str, _: Path) -> TracedValue:
    return parse_traced(value, forward=False)


def _traced_forward(value: str, _: Path) -> TracedValue:
    return parse_traced(value, forward=True)


def _chart(value: str, _: Path) -> str:
    if value == "none":
        return ""
    if is_gpu(value):
        return gpu_place_text(parse_gpu_place(value))
    from ...timings.model.choice_text import (
        parse_choice,  # imported here, because the window needs charts later
    )

    parse_choice(value)
    return value


def _speed(value: str, _: Path) -> float | Literal["auto"]:
    if value == "auto":
        return "auto"
    try:
        return _between(value, 0.1, 1e6, "moments a second")
    except ValueError:
        raise ValueError(f"{value!r} is not a speed; write moments a second, such as 8, or auto.") from None


Reader = Callable[[str, Path], Any]
READERS: Final[dict[str, Reader]] = {
    "show": _panes,
    "at": lambda value, _: parse_anchor(value),
    "play": _play,
    "focus": _focus,
    "block": _pane_numbers,
    "thread": _pane_numbers,
    "element": _element,
    "panel": _one_of(*PANELS),
    "colour": _colour,
    "picture": _one_of(*get_args(PictureChoice)),
    "zoom": _names,
    "chart": _chart,
    "spotlight": _spotlight,
    "trace back": _traced,
    "trace forward": _traced_forward,
    "link": _one_of(*get_args(Link)),
    "time": _one_of(*get_args(TimeChoice)),
    "nearest": _one_of(*get_args(NearestChoice)),
    "compiled": _one_of("shown", "hidden"),
    "speed": _speed,
    "words": _one_of(*get_args(WordChoice)),
}


FIELDS = {"trace back": "traced", "trace forward": "traced"}  # of a change, by key, if it has another name


def merge_changes(first: StepChange, second: StepChange) -> StepChange:
    """Merge two changes; the second one takes precedence."""
    fields = {name: value for name, value in asdict(second).items() if value is not None}
    return replace(first, **fields)


def look_lines(shown: Bookmark, wanted: Bookmark) -> dict[str, str]:
    """List the lines that turn one look into another, without spotlight and path, which each step sets again."""
    lines: dict[str, str] = {}
    if shown.focus != wanted.focus:
        lines["focus"] = PANES[wanted.focus]
    if panel_of(shown) != panel_of(wanted):
        lines["panel"] = panel_of(wanted)
    if shown.colour_by != wanted.colour_by:
        lines["colour"] = COLOUR_WORDS.get(wanted.colour_by, wanted.colour_by)
    if shown.picture != wanted.picture:
        lines["picture"] = wanted.picture
    if shown.zoom != wanted.zoom:
        lines["zoom"] = ", ".join(wanted.zoom) or "all"
    if shown.chart != wanted.chart:
        lines["chart"] = wanted.chart or "none"
    if shown.link != wanted.link:
        lines["link"] = wanted.link
    if shown.time != wanted.time:
        lines["time"] = wanted.time
    if shown.nearest != wanted.nearest:
        lines["nearest"] = wanted.nearest
    if (shown.compiled == "shown") != (wanted.compiled == "shown"):
        lines["compiled"] = "shown" if wanted.compiled == "shown" else "hidden"
    if shown.speed != wanted.speed:
        lines["speed"] = "auto" if wanted.speed is None else f"{wanted.speed:g}"
    if shown.words != wanted.words:
        lines["words"] = wanted.words
    return lines


def panel_of(look: Bookmark) -> str:
    """Return the name of the panel next to the pictures, "none" if there is none."""
    return "none" if look.side == "hidden" else look.tab


def apply_to_look(look: Bookmark, change: StepChange) -> Bookmark:
    """Apply a change to a look, except for panes, time, spotlight and path."""
    fields = {
        "focus": change.focus, "colour_by": change.colour, "picture": change.picture, "zoom": change.zoom,
        "chart": change.chart, "link": change.link, "time": change.time, "nearest": change.nearest,
        "compiled": change.compiled, "words": change.words,
    }  # fmt: skip
    look = replace(look, **{key: value for key, value in fields.items() if value is not None})
    if change.speed is not None:
        look = replace(look, speed=None if change.speed == "auto" else change.speed)
    if change.panel is not None:
        shown = change.panel != "none"
        look = replace(look, side="shown" if shown else "hidden")
        look = replace(look, tab=change.panel) if shown else look
    return look
