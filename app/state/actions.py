"""The actions that change the state of a window, and `reduce`, which computes the next state."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model.bookmark import (
    COLOUR_BY,
    MAX_SCALE,
    MIN_SCALE,
    TABS,
    Bookmark,
    LayoutChoice,
    Link,
    PictureChoice,
    Setup,
    ThemeChoice,
    TracedValue,
    WordChoice,
)
from ..model.session import Selection
from .window_state import BOOKMARK_FIELDS, SIDE_SHARE, WindowState

SLOWEST = 0.01  # moments a second
LOADED = ("panes", "selections", "moment", "focus")  # fields of a bookmark that wait for sessions


class Show(Struct, frozen=True):
    """Restore everything from a bookmark except what waits for sessions."""

    mark: Bookmark


class ShowPanes(Struct, frozen=True):
    """Show other setups; selections and focus stay where there is a pane for them."""

    panes: tuple[Setup, ...]


class ChangeSetup(Struct, frozen=True):
    """Replace the setup of a pane."""

    pane: int
    setup: Setup


class Select(Struct, frozen=True):
    """Select a block and thread in each pane; missing ones stay."""

    selections: tuple[Selection, ...]


class Focus(Struct, frozen=True):
    """Give a pane the focus."""

    pane: int


class Seek(Struct, frozen=True):
    """Go to a moment; None before the first session is loaded."""

    moment: float | None


class SetSpeed(Struct, frozen=True):
    """Play so many moments a second; None picks a speed that suits the launch."""

    speed: float | None


class SetLoop(Struct, frozen=True):
    """Choose whether playing restarts at the end."""

    loop: bool


class LinkBy(Struct, frozen=True):
    """Link the panes by moment or by progress."""

    link: Link


class ShareChanges(Struct, frozen=True):
    """Choose whether a parameter changes in both panes at once."""

    shared: bool


class ShowTab(Struct, frozen=True):
    """Show a tab of the inspector. appears: the inspector was hidden."""

    tab: str
    appears: bool = False


class ToggleSide(Struct, frozen=True):
    """Show or hide the inspector. is_shown: whether it is visible now."""

    is_shown: bool


class ToggleBar(Struct, frozen=True):
    """Show or hide the toolbar in the current layout."""


class ColourBy(Struct, frozen=True):
    """Colour the cells by one of COLOUR_BY; others change nothing."""

    colour: str


class ChoosePicture(Struct, frozen=True):
    """Show the memory, or the histogram of launches that count."""

    picture: PictureChoice


class ChooseLayout(Struct, frozen=True):
    """Take the ordinary layout or that of a lecture."""

    layout: LayoutChoice


class ToggleLayout(Struct, frozen=True):
    """Switch between the layouts."""


class Zoom(Struct, frozen=True):
    """Show only the buffers with these names in the pictures of memory; () shows all."""

    names: tuple[str, ...]


class Spotlight(Struct, frozen=True):
    """Highlight the parts with these names and dim the rest; () dims nothing."""

    names: tuple[str, ...]


class TraceValue(Struct, frozen=True):
    """Show the path of a value and its tab; None shows no path. appears: the inspector was hidden."""

    traced: TracedValue | None
    appears: bool = False


class ShowChart(Struct, frozen=True):
    """Show a chart instead of the panes; "" shows the panes."""

    text: str


class ToggleTime(Struct, frozen=True):
    """Switch between moments and GPU time."""


class ChooseTheme(Struct, frozen=True):
    """Choose the light or dark theme, or follow the system."""

    theme: ThemeChoice


class ScaleText(Struct, frozen=True):
    """Make the text this many times as large as normal, within limits."""

    scale: float


class ReduceMotion(Struct, frozen=True):
    """Choose whether nothing glides or fades."""

    reduced: bool


class ChooseWords(Struct, frozen=True):
    """Choose the terminology of a model, or that of each scenario."""

    words: WordChoice


class ShowPictureOnly(Struct, frozen=True):
    """Show only the pictures of memory and a lecture's caption, or everything again."""

    only: bool


class HideVerdicts(Struct, frozen=True):
    """Hide how launches ended while a lecture asks, or show it again."""

    hides: bool


class AskCompiler(Struct, frozen=True):
    """Choose whether compiled counters are shown once they are known."""

    asks: bool


class ShareSide(Struct, frozen=True):
    """Give the inspector these parts of the width, where a pane has three; None for the default."""

    parts: int | None


Action = (
    Show | ShowPanes | ChangeSetup | Select | Focus | Seek | SetSpeed | SetLoop | LinkBy | ShareChanges
    | ShowTab | ToggleSide | ToggleBar | ColourBy | ChoosePicture | ChooseLayout | ToggleLayout | Zoom | Spotlight
    | TraceValue | ShowChart | ToggleTime | ChooseTheme | ScaleText | ReduceMotion | ChooseWords
    | ShowPictureOnly | HideVerdicts | AskCompiler | ShareSide
)  # fmt: skip


def reduce(state: WindowState, action: Action) -> WindowState:
    """Compute the state after an action; the same one if nothing changes."""
    changes = _changes(state, action)
    if all(getattr(state, name) == value for name, value in changes.items()):
        return state
    return replace(state, **changes)


def _changes(state: WindowState, action: Action) -> dict[str, Any]:
    """Return the fields that an action sets."""
    match action:
        case Show(mark):
            return _restored(mark)
        case ShowPanes(panes):
            missing = len(panes) - len(state.selections)
            selections = (*state.selections[: len(panes)], *(Selection(),) * missing)
            return {"panes": panes, "selections": selections, "focus": _clamp(state.focus, len(panes))}
        case ChangeSetup(pane, setup) if 0 <= pane < len(state.panes):
            return {"panes": (*state.panes[:pane], setup, *state.panes[pane + 1 :])}
        case ChangeSetup():
            return {}
        case Select(selections):
            shown = selections[: len(state.panes)]
            return {"selections": (*shown, *state.selections[len(shown) :])}
        case Focus(pane):
            return {"focus": pane} if 0 <= pane < len(state.panes) else {}
        case Seek(moment):
            return {"moment": None if moment is None else max(moment, 0.0)}
        case SetSpeed(speed):
            return {"speed": None if speed is None else max(float(speed), SLOWEST)}
        case ShowTab(tab, appears):
            changes = {"tab": tab} if tab in TABS else {}
            return changes | ({"side": "shown"} if appears else {})
        case TraceValue(None):
            return {"traced": None} | ({"tab": state.tab_before_path} if state.tab == "why" else {})
        case TraceValue(traced, appears):
            before = {} if state.tab == "why" else {"tab_before_path": state.tab}
            return before | {"traced": traced, "tab": "why"} | ({"side": "shown"} if appears else {})
        case ToggleSide(is_shown):
            hidden = "auto" if state.is_lecture else "hidden"
            return {"side": hidden if is_shown else "shown"}
        case ToggleBar():
            return {"lecture_bar" if state.is_lecture else "bar": not state.shows_bar}
        case ColourBy(colour):
            return {"colour_by": colour} if colour in COLOUR_BY else {}
        case ToggleLayout():
            return {"layout": "ordinary" if state.is_lecture else "lecture"}
        case ToggleTime():
            return {"time": "moments" if state.time == "measured" else "measured"}
        case ScaleText(scale):
            return {"text_scale": _scale(scale)}
        case ShareSide(parts):
            return {"side_share": parts or SIDE_SHARE}
        case _:
            name = FIELDS[type(action)]
            return {name: getattr(action, action.__struct_fields__[0])}


# The field of the state that an action sets to its only value.
FIELDS: dict[type, str] = {
    SetLoop: "loop", LinkBy: "link", ShareChanges: "shared", ChoosePicture: "picture", ChooseLayout: "layout",
    Zoom: "zoom", Spotlight: "spotlight", ShowChart: "chart",
    ChooseTheme: "theme", ReduceMotion: "reduced_motion", ChooseWords: "words", ShowPictureOnly: "is_picture_only",
    HideVerdicts: "is_asking", AskCompiler: "asks_compiler",
}  # fmt: skip


def _restored(mark: Bookmark) -> dict[str, Any]:
    """Return the fields of a bookmark that can be shown now; unknown tabs and colours are left out."""
    fields = {name: getattr(mark, name) for name in BOOKMARK_FIELDS if name not in LOADED}
    fields["text_scale"] = _scale(mark.text_scale)
    fields["speed"] = None if mark.speed is None else max(float(mark.speed), SLOWEST)
    unknown = (["tab"] if mark.tab not in TABS else []) + (
        ["colour_by"] if mark.colour_by not in COLOUR_BY else []
    )
    return {name: value for name, value in fields.items() if name not in unknown}


def _scale(scale: float) -> float:
    return min(max(scale, MIN_SCALE), MAX_SCALE)


def _clamp(focus: int, panes: int) -> int:
    return max(0, min(focus, panes - 1))
