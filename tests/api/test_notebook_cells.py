"""`%%tilescope` and exercises in the cells of a notebook."""

from __future__ import annotations

import pytest

from notebook_shell import outputs_of

IMPORTS = "import numpy as np\nimport tilescope\nfrom numba import cuda, float32"
LOAD = "%load_ext tilescope"
RACE = """
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    out[t] = tile[63 - t]  # "<b>"

kernel[1, 64](np.ones(64, np.float32), np.zeros(64, np.float32))
"""
AGAIN = RACE + RACE.splitlines()[-1]
MAP = "@cuda.jit\ndef add_ten(a, out):\n    i = cuda.grid(1)\n    out[i] = a[i] + TEN{wrong}\n"
LAUNCH = "add_ten[1, 2](np.ones(2), np.ones(2))"
CHECK = "tilescope.exercise('map').check(add_ten)"


@pytest.fixture(scope="module")
def magics():
    cells = [f"%%tilescope{RACE}", f"%%tilescope 1{AGAIN}", f"%%tilescope 3{AGAIN}", f"%%tilescope x{AGAIN}"]
    broken = f"%%tilescope{RACE}raise ValueError('afterwards')"
    return outputs_of(IMPORTS, LOAD, *cells, "%%tilescope\nx = 1", broken)[2:]


def test_a_cell_shows_its_findings_next_to_their_lines_and_a_replay(magics):
    [shown] = magics[0]
    summary, finding = shown["text/plain"].splitlines()
    assert summary == "1 launch, 1 finding"
    assert finding.startswith("Cell In[3]:7: error: race: 64 elements of tile")
    html = shown["text/html"]
    [row] = [part for part in html.split("<code") if "63 - t" in part.split("</code>")[0]]
    assert "   7     out[t] = tile[63 - t]  # &quot;&lt;b&gt;&quot;" in row
    assert "<b>error</b> race: 64 elements of tile" in row
    assert html.count("<iframe") == 1


def test_the_user_chooses_the_launch_to_replay(magics):
    [shown] = magics[1]
    assert shown["text/plain"].startswith("2 launches, 1 finding; launch 1 is replayed\n")
    assert magics[2] == [{"error": "UsageError: There is no launch 3: the cell made 2 launches."}]
    assert magics[3] == [
        {"error": "UsageError: %%tilescope takes the number of the launch to replay, not 'x'."}
    ]
    assert magics[4] == [{"error": "UsageError: The cell launched no kernel, so nothing was traced."}]


def test_a_cell_that_raises_shows_the_error_and_the_launches_before(magics):
    error, shown = magics[5]
    assert error == {"error": "ValueError: afterwards"}
    assert shown["text/plain"].startswith("1 launch, 1 finding\n")


@pytest.fixture(scope="module")
def exercises():
    wrong = MAP.format(wrong=" + (i > 8)")
    return outputs_of(
        IMPORTS,
        LOAD,
        "TEN = 9\nTEN = 10",
        f"{MAP.format(wrong='')}{CHECK}",
        f"%%tilescope\n{wrong}{LAUNCH}",
        CHECK,
        "_verdict = " + CHECK + "\n_verdict.launch.grid, _verdict.passed",
        f"# A comment\n\n{MAP.format(wrong=' + undefined_name')}{CHECK}",
        "tilescope.exercise('nap')",
        "tilescope.exercise('map').check(3)",
        "tilescope.exercise('map', folder='nowhere')",
        "@cuda.jit\ndef other(a, out):\n    pass\ntilescope.exercise('map').check(other)",
    )[3:]


def test_an_exercise_judges_a_kernel_with_definitions_of_other_cells(exercises):
    [shown] = exercises[0]
    assert shown["text/plain"].splitlines()[-1] == "Map: one thread, one element: passed"
    assert "<iframe" not in shown["text/html"]


def test_the_feedback_is_a_replay_of_the_first_case_that_fails(exercises):
    [shown] = exercises[2]
    assert "case 2, 3 blocks of 17 threads, n = 51: wrong, 42 of 51 elements of out" in shown["text/plain"]
    assert "<b>Map: one thread, one element: not passed yet</b>" in shown["text/html"]
    assert shown["text/html"].count("<iframe") == 1
    assert exercises[3] == [{"text/plain": "((3, 1, 1), False)"}]


def test_mistakes_have_the_lines_of_the_cell(exercises):
    [shown] = exercises[4]
    assert "line 6: " in shown["text/plain"]
    assert shown["text/plain"].endswith("not passed yet")


def test_what_can_t_be_judged_is_one_sentence(exercises):
    sentences = [shown["error"] for [shown] in exercises[5:9]]
    assert sentences == [
        "TilescopeError: There is no exercise nap; did you mean map?",
        "TilescopeError: check takes a kernel, a function with @cuda.jit, not int.",
        "TilescopeError: There is no folder nowhere; check its name.",
        "TilescopeError: The kernel of this exercise is called add_ten, not other.",
    ]
