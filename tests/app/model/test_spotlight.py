"""Spotlights by name: every form is resolved in sessions, and unknown names are reported in a sentence."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sessions import matmul, scenario_session, uneven_session
from tilescope.app.model.bookmark import Bookmark
from tilescope.app.model.counter_labels import COMPILED, counter_labels
from tilescope.app.model.spotlight import (
    DIM_ALL,
    Highlight,
    Span,
    hidden_names,
    parse_spotlight,
    resolve_highlights,
    resolve_spotlight,
    split_names,
    unknown_names,
)
from tilescope.app.views.counters.numbers import tiles_of
from tilescope.kernels.scenarios.catalogue import find
from views import SMALL, buffer_number, counter_session

NAIVE = ("matmul-naive-col-on-x", "matmul-tiled")


def pair():
    return [matmul(name, **SMALL) for name in NAIVE]


def highlight_of(name, session=None):
    (highlight,) = resolve_highlights([name], [session or matmul("matmul-tiled", **SMALL)])
    return highlight


def test_names_are_split_at_commas_but_for_those_inside_brackets_and_quotes():
    assert split_names("A[0, :], thread (1, 0), line \"f(a, b)\", line 'x, y', tile_a ,") == (
        "A[0, :]",
        "thread (1, 0)",
        'line "f(a, b)"',
        "line 'x, y'",
        "tile_a",
    )


@pytest.mark.parametrize(
    "name", ["3 + 4", "A[", "A[::2]", "A[1 2]", "thread x", "warp -1", "", "A B", "A[x]"]
)
def test_a_name_of_no_known_form_is_refused_in_a_sentence(name):
    with pytest.raises(
        ValueError, match=r"Nothing can stand out by the name .*; write A, C\[2, 3\], .*right\.$"
    ):
        parse_spotlight(["A", name])


NAMES = (
    "A",
    "C[",
    "]",
    "2",
    ":",
    "-1",
    ",",
    "thread",
    "(",
    ")",
    "warp",
    "block",
    "line",
    '"',
    "counter",
    "left",
    " ",
)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(NAMES) | st.text(max_size=4), max_size=12).map("".join) | st.text())
@example("AA")
@example("thread " + "9" * 5000)
@example("A[" + "9" * 5000 + "]")
def test_any_text_is_read_or_refused_in_a_sentence(text):
    session = matmul("matmul-tiled", **SMALL)
    names = split_names(text)
    try:
        parse_spotlight(names)
    except ValueError as error:
        assert str(error).startswith("Nothing can stand out by the name") and "\n" not in str(error)
        assert len(resolve_highlights(names, [session])) == 1
    else:
        unknown = unknown_names(names, [session])
        assert all(sentence.endswith((".", "?")) and "\n" not in sentence for sentence in unknown.values())


def test_slices_are_those_of_python():
    (target,) = parse_spotlight(["A[2, :, 0:4, -1, -3:, :2]"]).targets
    both, four, last = Span(None, None), Span(0, 4), Span(-1, None)
    assert target.spans == (Span(2, 3), both, four, last, Span(-3, None), Span(None, 2))


@pytest.mark.parametrize("name", ["A", "a", "tile_b"])
def test_a_buffer_has_the_name_that_panes_or_the_source_give_it(name):
    session = matmul("matmul-tiled", **SMALL)
    assert highlight_of(name) == Highlight(buffers=frozenset([buffer_number(session, name.lower())]))


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("C[2, 3]", ((2, 3), (3, 4))),
        ("C[2, :]", ((2, 3), (0, 28))),
        ("C[0:4, 1]", ((0, 4), (1, 2))),
        ("C[-1]", ((19, 20), (0, 28))),
        ("C[18:99, -2:]", ((18, 20), (26, 28))),
    ],
)
def test_elements_are_ranges_along_the_dimensions(name, ranges):
    buffer = buffer_number(matmul("matmul-tiled", **SMALL), "c")
    assert highlight_of(name) == Highlight(elements=frozenset([(buffer, ranges)]))


def test_threads_warps_and_blocks_have_numbers_or_coordinates_and_the_words_of_work_items():
    assert (
        highlight_of("thread 5")
        == highlight_of("work-item 5")
        == highlight_of("Thread (5, 0)")
        == Highlight(threads=frozenset([5]))
    )
    assert highlight_of("thread (1, 2)") == Highlight(threads=frozenset([17]))
    assert highlight_of("warp 1") == highlight_of("wavefront 1") == Highlight(warps=frozenset([1]))
    assert highlight_of("block 6") == highlight_of("work-group (2, 1)") == Highlight(blocks=frozenset([6]))


def test_a_line_is_resolved_by_number_and_by_text_in_the_kernel_first():
    naive, tiled = pair()
    (file, by_text), = highlight_of('line "total +="', tiled).lines  # fmt: skip
    (_, in_naive), = highlight_of('line "total +="', naive).lines  # fmt: skip
    lines = tiled.trace.sources[file].splitlines()
    assert "total += tile_a" in lines[by_text - 1]
    assert "total += a[" in lines[in_naive - 1]
    assert highlight_of(f"line {by_text}", tiled) == highlight_of('line "total +="', tiled)


def test_a_line_of_the_twin_of_a_kernel_in_cuda_c_is_one_of_both_sources():
    twin = find("cuda-c-tiled-static").twin
    assert twin is not None
    session = scenario_session(twin, m=16, k=16, n=16)
    files = {file.rpartition(".")[2] for file, _ in highlight_of('line "sync"', session).lines}
    assert files == {"cu", "py"}


def test_a_counter_has_the_label_under_a_pane_in_any_of_its_words():
    assert (
        highlight_of("counter global sectors")
        == highlight_of("counter Global_Sectors")
        == Highlight(counters=frozenset(["global sectors"]))
    )
    assert highlight_of("counter mean reads of A").counters == {"mean reads of A"}
    session = matmul("workitem-naive", m=8, k=8, n=8)
    assert highlight_of("counter global sectors", session).counters == {"global sectors"}


@pytest.mark.parametrize(
    "name", ["matmul-tiled", "count-atomic", "histogram-private", "python-loops", "transpose-tile"]
)
def test_the_labels_are_those_of_the_tiles(name):
    session = matmul(name, **SMALL) if name == "matmul-tiled" else matmul(name)
    wavefronts = any(buffer.space == "shared" for buffer in session.trace.buffers)
    assert set(counter_labels(session)) - {COMPILED} == {tile.label for tile in tiles_of(session, wavefronts)}


def test_a_pane_that_is_named_is_highlighted_completely_and_needs_no_other_names():
    sessions = pair()
    assert resolve_highlights(["left"], sessions) == (None, DIM_ALL)
    assert resolve_highlights(["right"], sessions) == (DIM_ALL, None)
    highlights = resolve_highlights(["right", "B"], sessions)
    assert highlights[0] == DIM_ALL
    assert highlights[1] == Highlight(buffers=frozenset([buffer_number(sessions[1], "b")]))


def test_a_name_of_one_pane_dims_the_other_and_an_unknown_name_dims_nothing():
    sessions = pair()
    assert resolve_highlights(["tile_a"], sessions)[0] == DIM_ALL
    assert resolve_highlights(["tile_a", "A"], sessions)[0] == Highlight(
        buffers=frozenset([buffer_number(sessions[0], "a")])
    )
    assert (
        resolve_highlights(["nobody"], sessions)
        == resolve_highlights(["3 + 4"], sessions)
        == resolve_highlights([], sessions)
        == (None, None)
    )
    assert resolve_highlights(["right"], sessions[:1]) == (None,)
    assert resolve_spotlight(parse_spotlight(["A"]), [None, sessions[1]])[0] == DIM_ALL


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("X", "There is no buffer X here; there are A, B and C."),
        ("X[1]", "There is no buffer X here; there are A, B and C."),
        ("C[20, 0]", "C has nothing at C[20, 0]; its shape is 20 × 28."),
        ("C[1, 2, 3]", "C has nothing at C[1, 2, 3]; its shape is 20 × 28."),
        ("C[5:5]", "C has nothing at C[5:5]; its shape is 20 × 28."),
        ("thread 64", "There is no thread 64 here; a block has threads 0 to 63."),
        ("thread (8, 0)", "There is no thread (8, 0) here; a block has threads 0 to 63."),
        ("warp 2", "There is no warp 2 here; a block has 2 warps."),
        ("block 12", "There is no block 12 here; the grid has blocks 0 to 11."),
        ("line 100000", "There is no line 100000 here; the source has"),
        ('line "x\u202ey"', 'No line of the source here holds "x\\u202ey".'),
        ("counter luck", "There is no counter luck here; there are global sectors, "),
    ],
)
def test_an_unknown_name_is_reported_with_the_known_ones(name, sentence):
    session = matmul("matmul-naive-col-on-x", **SMALL)
    assert unknown_names(["A", name], [session]).keys() == {name}
    assert unknown_names(["A", name], [session])[name].startswith(sentence)


def test_a_name_is_known_where_one_pane_has_it_unless_it_is_meant_in_the_other():
    sessions = pair()
    assert unknown_names(["tile_a", "A", "left"], sessions[::-1]) == {}
    assert unknown_names(["tile_a", "left"], sessions).keys() == {"tile_a"}
    assert unknown_names(["right"], sessions[:1]) == {"right": "There is no right pane here; one is shown."}


@pytest.mark.parametrize(
    ("look", "reason"),
    [
        (
            Bookmark((), spotlight=('line "total"',), side="hidden"),
            "the source is not shown; add panel: source",
        ),
        (Bookmark((), spotlight=('line "total"',), tab="warp"), "the source is not shown; add panel: source"),
        (
            Bookmark((), spotlight=("right", 'line "total"')),
            "the source shown is the other pane's; add focus",
        ),
        (Bookmark((), spotlight=("C[0, 0]",), zoom=("A", "tile_a")), "zoom shows only A and tile_a"),
        (Bookmark((), spotlight=("A",), chart="scaling matmul-tiled"), "a chart is in place of the panes"),
        (Bookmark((), spotlight=("right", 'line "total"'), focus=1), ""),
        (Bookmark((), spotlight=("tile_a", "a[0]", "warp 0"), zoom=("A", "tile_a")), ""),
        (Bookmark((), spotlight=("nobody",), zoom=("A",)), ""),
    ],
)
def test_a_highlight_outside_the_view_is_reported(look, reason):
    hidden = hidden_names(look, pair())
    assert hidden == (
        {look.spotlight[-1]: f"{look.spotlight[-1]} cannot be seen to stand out: {reason}."} if reason else {}
    )


def test_a_block_that_did_not_run_is_reported():
    session = matmul("matmul-tiled", (3,), **SMALL)
    assert unknown_names(["block 3", "block 4"], [session]) == {
        "block 4": "The trace holds no accesses of block 4."
    }


def test_kernels_outside_the_catalogue_have_spotlights_too(tmp_path):
    session = uneven_session(tmp_path)
    assert unknown_names(["line", "a", "out[0:3]", "thread 63", 'line "scaled(a, i):"'], [session]) == {}
    assert unknown_names(["A"], [session])  # its own names are as they are
    assert highlight_of("counter global atomics", counter_session("random", "count-atomic")).counters
