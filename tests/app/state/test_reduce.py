"""Actions give valid states, a store renders what changed once, and bookmarks come back as they were saved."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.model.bookmark import (
    COLOUR_BY,
    MAX_SCALE,
    MIN_SCALE,
    TABS,
    Bookmark,
    Setup,
    decode,
    encode,
)
from tilescope.app.model.session import Selection
from tilescope.app.state.actions import (
    Action,
    AskCompiler,
    ColourBy,
    Focus,
    ScaleText,
    Seek,
    Select,
    Show,
    ShowChart,
    ShowPanes,
    ShowTab,
    ToggleBar,
    ToggleLayout,
    ToggleSide,
    Zoom,
    reduce,
)
from tilescope.app.state.store import Store
from tilescope.app.state.view_models import layout_view
from tilescope.app.state.window_state import FIRST_STATE

NUMBERS = st.floats(-1e6, 1e6)
SETUPS = st.builds(Setup, scenario=st.sampled_from(["a", "b"]), blocks=st.none() | st.just((0,)))
PANES = st.lists(SETUPS, max_size=2).map(tuple)
SELECTIONS = st.lists(st.builds(Selection, st.integers(0, 9), st.integers(0, 9)), max_size=3).map(tuple)
MARKS = st.builds(
    Bookmark, panes=PANES, selections=SELECTIONS, moment=st.none() | NUMBERS, focus=st.integers(-1, 3),
    speed=st.none() | NUMBERS, text_scale=NUMBERS, tab=st.text(max_size=6), colour_by=st.text(max_size=6),
)  # fmt: skip
FIELDS = {
    "mark": MARKS, "panes": PANES, "selections": SELECTIONS, "setup": SETUPS, "pane": st.integers(-1, 2),
    "moment": st.none() | NUMBERS, "speed": st.none() | NUMBERS, "scale": NUMBERS,
    "parts": st.none() | st.integers(1, 9),
    "tab": st.sampled_from([*TABS, "none"]), "colour": st.sampled_from([*COLOUR_BY, "none"]),
}  # fmt: skip


def is_valid(state):
    """Test whether all fields of a state agree with each other."""
    return (
        len(state.selections) == len(state.panes)
        and 0 <= state.focus < max(len(state.panes), 1)
        and (state.moment is None or state.moment >= 0)
        and (state.speed is None or state.speed > 0)
        and MIN_SCALE <= state.text_scale <= MAX_SCALE
        and state.tab in TABS
        and state.colour_by in COLOUR_BY
        and state.side_share > 0
    )


def any_action(kind):
    """Build a strategy for the actions of a class."""
    arguments = {name: FIELDS[name] for name in kind.__struct_fields__ if name in FIELDS}
    return st.builds(kind, **arguments)


ACTIONS = st.one_of(*map(any_action, Action.__args__))
STARTS = PANES.map(lambda panes: reduce(FIRST_STATE, ShowPanes(panes)))


def played(state, steps):
    """Return the state after actions."""
    for step in steps:
        state = reduce(state, step)
    return state


@given(STARTS, st.lists(ACTIONS, max_size=12))
def test_any_actions_give_a_valid_state(start, steps):
    assert is_valid(played(start, steps))


@given(STARTS, st.lists(ACTIONS, max_size=8))
def test_the_saved_part_comes_back_once_its_panes_are_shown(start, steps):
    mark = played(start, steps).bookmark()
    again = decode(encode(mark))
    assert again == mark
    state = played(
        FIRST_STATE, [Show(again), ShowPanes(again.panes), Select(again.selections), Focus(again.focus)]
    )
    assert reduce(state, Seek(again.moment)).bookmark() == mark


@given(STARTS, ACTIONS)
def test_an_action_that_changes_nothing_returns_the_same_state(start, action):
    after = played(start, [action])
    assert after is start or after != start


def test_a_removed_pane_takes_its_selection_and_the_focus_along():
    two = played(
        FIRST_STATE, [ShowPanes((Setup("a"), Setup("b"))), Focus(1), Select((Selection(1), Selection(2)))]
    )
    single = reduce(two, ShowPanes((Setup("a"),)))
    assert (single.selections, single.focus) == ((Selection(1),), 0)
    assert reduce(single, ShowPanes((Setup("a"), Setup("c")))).selections == (Selection(1), Selection())


def test_the_inspector_and_the_toolbar_are_toggled_by_layout():
    state = FIRST_STATE
    assert state.shows_bar and layout_view(state).shows_side(has_room=True)
    assert not layout_view(state).shows_side(has_room=False)
    lecture = reduce(state, ToggleLayout())
    assert not lecture.shows_bar and not layout_view(lecture).shows_side(has_room=True)
    assert reduce(lecture, ToggleBar()).shows_bar and not reduce(state, ToggleBar()).shows_bar
    shown = reduce(lecture, ToggleSide(is_shown=False))
    assert layout_view(shown).shows_side(has_room=False)
    assert reduce(shown, ToggleSide(is_shown=True)).side == "auto"  # hidden in a lecture
    assert reduce(state, ToggleSide(is_shown=True)).side == "hidden"
    assert reduce(reduce(state, ToggleSide(is_shown=True)), ShowTab("warp", appears=True)).side == "shown"


def test_a_bookmark_leaves_what_belongs_to_the_window():
    state = played(FIRST_STATE, [AskCompiler(False), ToggleBar(), ColourBy("reads")])
    after = reduce(state, Show(Bookmark(())))
    assert (after.asks_compiler, after.bar, after.colour_by) == (False, False, "auto")


@pytest.mark.parametrize(("scale", "shown"), [(0.1, MIN_SCALE), (1.3, 1.3), (9, MAX_SCALE)])
def test_the_text_has_a_least_and_a_largest_size(scale, shown):
    assert reduce(FIRST_STATE, ScaleText(scale)).text_scale == shown


def test_a_store_renders_a_panel_once_a_turn_and_only_if_its_view_model_changed():
    asked, zooms, charts = [], [], []
    store = Store(lambda: asked.append("turn"))
    store.subscribe(lambda: store.state.zoom, zooms.append)
    store.subscribe(lambda: store.state.chart, charts.append)
    store.render()
    store.dispatch(Zoom(("A",)))
    store.dispatch(Zoom(("B",)))
    assert (asked, zooms, charts) == (["turn"], [()], [""])
    store.render()
    assert (zooms, charts) == ([(), ("B",)], [""])
    store.dispatch(Zoom(("B",)))
    assert asked == ["turn"]
    store.invalidate()
    store.render()
    assert (asked, zooms, charts) == (["turn"] * 2, [(), ("B",)], [""])


def test_a_panel_may_refuse_what_it_is_to_render():
    store, shown = Store(), []

    def render(text):
        shown.append(text)
        if text == "nonsense":
            store.dispatch(ShowChart(""))

    store.subscribe(lambda: store.state.chart, render)
    store.dispatch(ShowChart("nonsense"))
    store.render()
    assert shown == ["nonsense", ""]


def test_a_state_is_not_changed_in_place():
    with pytest.raises(AttributeError):
        FIRST_STATE.zoom = ("A",)
    assert msgspec.structs.replace(FIRST_STATE, zoom=("A",)) != FIRST_STATE
