"""Words of work-items instead of CUDA's, the sources of CUDA C, and the texts of pitfalls."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest

from cuda_cpp import needs_compiler
from sessions import application, grab_image, matmul, scenario_session
from tilescope.app.model.session import Selection
from tilescope.app.model.vocabulary import text_in_words, vocabulary
from tilescope.app.views.common.wording import pitfall_text
from tilescope.app.views.inspect.explain import ExplainView
from tilescope.app.views.inspect.thread import ThreadView
from tilescope.app.views.memory.view import MemoryView
from tilescope.app.views.source.highlight import cuda_c_tokens
from tilescope.app.views.source.view import CUDA_C, NUMBA, SourceView
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find, scenarios
from tilescope.kernels.scenarios.scenario import WORK_ITEM_WORDS
from tilescope.tracer.analysis.requests import REQUEST_KINDS
from tilescope.tracer.hardware.times.cuda_c import source_of

LIGHT = Theme.named("light")
SIZES = {"m": 16, "k": 16, "n": 16, "tile": 8}


def shown(kind, session, theme=LIGHT):
    application()
    view = kind(theme)
    view.resize(420, 420)
    view.load(session)
    view.render_moment(3, Selection())
    return view


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("32 threads of block (1, 0)", "32 work-items of work-group (1, 0)"),
        ("Warp 0 now", "Wavefront 0 now"),
        ("shared memory, not local memory", "local memory, not private memory"),
        ("waits at the barrier", "waits at the barrier"),
        ("threadIdx and blocked stay", "threadIdx and blocked stay"),
    ],
)
def test_texts_are_spoken_in_the_words_of_work_items(text, other):
    assert text_in_words(text, WORK_ITEM_WORDS) == other
    assert text_in_words(text, {}) == text


def test_a_scenario_speaks_its_own_words_unless_others_are_chosen():
    assert vocabulary("own", find("workitem-naive")) == WORK_ITEM_WORDS
    assert vocabulary("own", find("matmul-tiled")) == vocabulary("own", None) == {}
    assert vocabulary("cuda", find("workitem-naive")) == {}
    assert vocabulary("work-item", find("matmul-tiled")) == WORK_ITEM_WORDS


def test_views_speak_the_words_of_the_theme():
    session = matmul("matmul-tiled", **SIZES)
    view = shown(ExplainView, session, Theme.named("light", words="work-item"))
    assert "64 work-items of work-group (0, 0)" in view.label.text()
    assert "thread" not in view.label.text().replace("work-item", "")
    thread = shown(ThreadView, session, Theme.named("light", words="work-item"))
    assert thread.names["Thread"].text() == "Work-item"
    assert thread.names["Block"].text() == "Work-group"
    thread.set_theme(LIGHT)
    assert thread.names["Thread"].text() == "Thread"
    words = [
        grab_image(shown(MemoryView, session, Theme.named("light", words=w))) for w in ("own", "work-item")
    ]
    assert words[0] != words[1]


def test_a_lesson_in_words_of_its_own_is_left_as_it_is():
    view = shown(ExplainView, matmul("workitem-tiled", m=16, k=256, n=16))
    assert find("workitem-tiled").lesson in view.label.text()
    assert "work-items of work-group" in view.label.text()


@needs_compiler
def test_a_kernel_in_cuda_c_is_traced_itself_and_shows_only_its_own_source():
    session = matmul("cuda-c-tiled-static", **SIZES)
    view = shown(SourceView, session)
    path, text = source_of(find("cuda-c-tiled-static").cuda_c)
    assert (view.editor.file, view.editor.toPlainText()) == (str(path), text)
    assert sum(view.editor.counts.values()) > 0
    assert view.twin.isHidden() and view.switch.isHidden()


def twin_session(**values):
    """Return the session that is shown where there is no C++ compiler."""
    return scenario_session(find("cuda-c-tiled-static").twin, **values)


def test_without_a_compiler_a_kernel_in_cuda_c_shows_its_source_and_its_twin():
    session = twin_session(**SIZES)
    view = shown(SourceView, session)
    path, text = source_of(find("cuda-c-tiled-static").cuda_c)
    assert (view.editor.file, view.editor.toPlainText()) == (str(path), text)
    assert view.editor.counts == {}
    assert not view.twin.isHidden()
    view.switch.buttons[NUMBA].click()
    assert view.editor.file.endswith("matmul_variants.py")
    assert sum(view.editor.counts.values()) > 0
    view.switch.buttons[CUDA_C].click()
    assert view.editor.toPlainText() == text
    view.load(matmul("matmul-tiled", **SIZES))
    view.render_moment(3, Selection())
    assert view.editor.file.endswith("matmul.py")
    assert view.switch.isHidden()


def test_below_a_kernel_in_cuda_c_stands_the_line_of_its_twin_where_the_warp_is():
    session = twin_session(**SIZES)
    view, requests = shown(SourceView, session), session.requests
    lines = next(iter(session.trace.sources.values())).splitlines()
    for request in np.flatnonzero((requests.block == 0) & (requests.warp == 0))[:40].tolist():
        line = session.trace.sites[int(requests.site[request])].line
        view.render_moment(float(requests.moment[request]), Selection())
        assert f"Numba, line {line}<" in view.twin.text()
        assert escape(lines[line - 1].strip()) in view.twin.text()
        colour = LIGHT.colour(REQUEST_KINDS[requests.kind[request]])
        assert f"solid {colour.name()}" in view.twin.styleSheet()
    view.render_moment(0, Selection())
    assert "no access now" in view.twin.text()
    view.switch.buttons[NUMBA].click()
    assert view.twin.isHidden()


def test_cuda_c_is_coloured():
    text = '// C = A B\n__global__ void f(int n)\n{ /* two\nlines */ g("a//b", 1.0f); }\n#define N 16'
    words = {
        line: {text.split("\n")[line][a : a + n]: s for a, n, s in parts}
        for line, parts in cuda_c_tokens(text).items()
    }
    assert words[0] == {"// C = A B": "comment"}
    assert words[1] == {"__global__": "keyword", "void": "keyword", "int": "keyword"}
    assert words[2] == {"/* two": "comment"}
    assert words[3] == {"lines */": "comment", '"a//b"': "string", "1.0f": "number"}
    assert words[4] == {"#define": "keyword", "16": "number"}


@pytest.mark.parametrize("scenario", [s for s in scenarios() if s.pitfall], ids=lambda s: s.name)
def test_a_pitfall_names_its_fault_and_its_parameters(scenario):
    text = pitfall_text(scenario)
    assert text.startswith(scenario.pitfall)
    assert " In lockstep the result is right with " in text
    by_order = (
        scenario.name == "matmul-tiled-one-barrier"
    )  # no parameters make it wrong in every order of threads
    assert (" It is wrong as it opens" in text) != by_order
    assert "num_blocks" not in text


def test_the_cases_of_a_pitfall_are_a_sentence():
    text = pitfall_text(find("matmul-tiled-row-on-x"))
    assert text.endswith("It is wrong as it opens, with K 8 or with M 24 and K 48.")
    assert "right with K 48 or with M 32, K 48, N 16" in text


def test_a_pitfall_is_explained():
    view = shown(ExplainView, matmul("count-racing"))
    assert find("count-racing").pitfall in view.label.text()
    assert pitfall_text(find("count-atomic")) == pitfall_text(None) == ""
