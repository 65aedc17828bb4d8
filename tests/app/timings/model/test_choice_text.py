"""Charts as lines of words: what they name, that they come back the same, and one sentence for what they don't."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorded_charts import H200
from tilescope.app.timings.model.choice import CHARTS, ChartSubject, Choice, problems, shapes, subjects_of
from tilescope.app.timings.model.choice_text import blocks_word, choice_text, parse_choice, size_word
from tilescope.kernels.scenarios.catalogue import CatalogueError
from tilescope.tracer.hardware.times.measurement import TIMING_KINDS

EVERY = Choice(subjects=tuple(subjects_of([H200])))


def test_a_line_names_chart_kernels_and_what_else_a_command_has():
    assert parse_choice("scaling matmul-naive-row-on-x matmul-tiled") == Choice(
        "scaling", (ChartSubject("matmul-naive-row-on-x"), ChartSubject("matmul-tiled"))
    )
    line = "bars matmul-tiled matmul-naive-col-on-x/numpy size=4096 time=kernel-cold axis=log published=no"
    assert parse_choice(line) == Choice(
        "bars",
        (ChartSubject("matmul-tiled"), ChartSubject("matmul-naive-col-on-x", "numpy")),
        kind="kernel-cold",
        problem="M = K = N = 4,096",
        log=True,
        published=False,
    )
    assert parse_choice("over stride copy-stride:dtype=float32 show=bandwidth") == Choice(
        "over",
        (ChartSubject("copy-stride", values=(("dtype", "float32"),)),),
        over="stride",
        show="bandwidth",
    )
    assert parse_choice("speedup matmul-tiled against=cuda-c-naive blocks=16x16").against == "cuda-c-naive"
    assert parse_choice("bars").subjects == Choice().subjects


def test_every_size_and_every_shape_of_blocks_has_a_word_of_its_own():
    assert parse_choice("bars matmul-tiled size=512,float64").problem == "M = K = N = 512, float64"
    assert parse_choice("bars transpose-tile size=1024x1024").problem == "1,024 × 1,024"
    assert parse_choice("bars vector-double size=1000000").problem == "1,000,000 elements, float64"
    for subject in EVERY.subjects:
        words = list(map(size_word, problems([H200], Choice(subjects=(subject,)))))
        assert len(set(words)) == len(words)
    blocks = {
        shape
        for size in problems([H200], EVERY)
        for shape in shapes([H200], Choice(subjects=EVERY.subjects, problem=size))
    }
    assert len({blocks_word(shape) for shape in blocks}) == len(blocks)


@given(
    st.builds(
        Choice,
        chart=st.sampled_from([chart for chart in CHARTS if chart != "over"]),
        subjects=st.lists(st.sampled_from(subjects_of([H200])), min_size=1, max_size=4, unique=True).map(
            tuple
        ),
        kind=st.sampled_from(list(TIMING_KINDS)),
        shape=st.sampled_from(["", "all"]),
        against=st.sampled_from(["", "matmul-tiled", "matmul-naive-col-on-x/numpy"]),
        log=st.sampled_from([None, True, False]),
        published=st.booleans(),
    )
)
def test_a_choice_comes_back_from_its_words(choice):
    assert parse_choice(choice_text(choice), [H200]) == choice


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "no chart is named; there are bars"),
        ("brs matmul-tiled", "no chart is called 'brs'; did you mean bars?"),
        ("bars matmul-tilde", "did you mean matmul-tiled"),
        ("bars matmul-tiled/nump", "matmul-tiled has no baseline 'nump'; it has none."),
        ("bars matmul-tiled:width=3", "'width' is not a parameter of matmul-tiled; there are m, k"),
        (
            "bars matmul-tiled sise=4096",
            "'sise' in sise=4096 is not an option of a chart; did you mean size?",
        ),
        ("bars matmul-tiled size=77", "size=77 was not measured; there are 4x256x4"),
        ("bars matmul-tiled blocks=3x3", "blocks=3x3 was not measured; there are all"),
        ("bars matmul-tiled time=warm", "time=warm is not known; there are first-call"),
        ("bars matmul-tiled show=rate", "bars has one panel."),
        ("scaling matmul-tiled show=bandwidth", "there are time, rate."),
        ("speedup against=nothing", "no scenario is called 'nothing'"),
        ("over", "over needs the name of a parameter"),
        ("over stride matmul-tiled", "matmul-tiled has no parameter 'stride'"),
    ],
)
def test_what_names_no_chart_is_refused_in_one_sentence(line, sentence):
    with pytest.raises(CatalogueError) as raised:
        parse_choice(line, [H200])
    assert sentence in str(raised.value)
    assert str(raised.value)[-1] in ".?"
    assert "\n" not in str(raised.value)
