"""`%%tilescope` and exercises in the cells of a notebook."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tilescope
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


DIES = """
import os, sys
from tilescope.api.shared_worker import shared_worker

class Killer:
    def write(self, text):
        os.kill(shared_worker().pid, 9)

@cuda.jit
def endless(a):
    print("running")
    while a[0] == a[0]:
        a[1] += 1

shown, sys.stdout = sys.stdout, Killer()
try:
    endless[1, 1](np.zeros(2))
finally:
    sys.stdout = shown
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a process as POSIX systems do")
def test_a_kernel_that_dies_in_a_cell_is_one_sentence_and_the_next_cell_runs():
    _, _, died, after, gone = outputs_of(
        IMPORTS, LOAD, f"%%tilescope{DIES}", f"%%tilescope{RACE}", "tilescope.newer_function"
    )
    [error] = died
    assert error["error"].startswith("TilescopeError: The tracing process ended unexpectedly (signal 9")
    assert error["error"].endswith("; the next run starts a new one.")
    assert after[0]["text/plain"].startswith("1 launch, 1 finding\n")
    assert gone == [
        {
            "error": f"AttributeError: Tilescope {tilescope.__version__} has no newer_function; a notebook "
            "for a newer version needs pip install --upgrade tilescope."
        }
    ]


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


TIMED = """%%time

@cuda.jit
def kernel(a, out):
    i = cuda.grid(1)
    out[i] = a[i + 1]

kernel[1, 32](device, np.zeros(32, np.float32))
"""
LOOP = "for _ in range(20):\n    kernel[1, 32](np.ones(33), np.ones(32))"


@pytest.fixture(scope="module")
def traced():
    return outputs_of(
        "%load_ext tilescope",
        "%tilescope on",
        "import numpy as np\nfrom numba import cuda\ndevice = cuda.to_device(np.ones(32, np.float32))",
        TIMED,
        LOOP,
        "%timeit -n 100 kernel[1, 32](np.ones(33), np.ones(32))",
        "%timeit -n 100 sum([1])",
        f"import tilescope\n{MAP.format(wrong='').replace('TEN', '10')}{CHECK}",
        "%tilescope on",
        "1",
    )[3:]


def test_a_traced_notebook_needs_no_gpu_and_shows_each_cell_s_launches(traced):
    [shown] = traced[0]
    summary, *findings = shown["text/plain"].splitlines()
    assert summary.startswith("1 launch, ")
    assert findings[0].startswith("Cell In[4]:6: error: bounds: 1 access to a on line 6 is outside it")
    [row] = [part for part in shown["text/html"].split("<code") if "a[i + 1]" in part.split("</code>")[0]]
    assert "   6     out[i] = a[i + 1]" in row
    assert shown["text/html"].count("<iframe") == 1
    assert traced[-1] == [{"text/plain": "1"}]


def test_a_loop_of_launches_is_summarised(traced):
    [shown] = traced[1]
    assert shown["text/plain"].splitlines()[0] == (
        "20 launches of 1 kernel; the first and the last of each are examined, 0 findings; the last is replayed"
    )


def test_timed_launches_run_once(traced):
    assert [shown["text/plain"].splitlines()[0] for shown in traced[2]] == ["1 launch, 0 findings"]
    assert traced[3] == [{"text/plain": "measured -n 100 sum([1]) None"}]


def test_exercises_are_judged_in_a_traced_notebook(traced):
    [shown] = traced[4]
    assert shown["text/plain"].endswith("Map: one thread, one element: passed")


OPERATIONS = """
import sys
sys.path.insert(0, PROGRAMS)
import numpy as np
from tensor_ops import CudaOps, Tensor
neg, add = CudaOps.map(lambda x: -x), CudaOps.zip(lambda x, y: x + y)
mul, total = CudaOps.zip(lambda x, y: x * y), CudaOps.reduce(lambda x, y: x + y)
a = np.arange(24.0).reshape(2, 3, 4)
"""
TRAINING = """
x = np.random.default_rng(1).normal(size=(1, 16, 2))
y, w, losses = x @ np.array([[2.0], [-1.0]]), np.zeros((1, 2, 1)), []
for _ in range(3):
    error = add(CudaOps.matrix_multiply(Tensor(x), Tensor(w)), neg(Tensor(y)))
    losses.append(float(total(mul(error, error), 1).numpy()[0, 0, 0]))
    w = w - 0.03 * CudaOps.matrix_multiply(Tensor(x).permute(0, 2, 1), error).numpy()
losses == sorted(losses, reverse=True)
"""


def test_the_operations_of_an_autodiff_library_compute_and_train():
    transposed = "Tensor(a).permute(0, 2, 1), Tensor(np.ones((1, 4, 1)))"
    cells = [
        "np.array_equal(neg(Tensor(a)).numpy(), -a)",
        f"np.array_equal(add({transposed}).numpy(), a.transpose(0, 2, 1) + 1)",
        "np.array_equal(total(Tensor(a), 1).numpy(), a.sum(1, keepdims=True))",
        TRAINING,
    ]
    head = OPERATIONS.replace("PROGRAMS", repr(str(Path(__file__).parents[1] / "data" / "notebooks")))
    shown = outputs_of("%load_ext tilescope", "%tilescope on", head, *cells)[3:]
    assert [value["text/plain"] for value, _ in shown] == ["True"] * 4
    summaries = [launches["text/plain"].splitlines()[0] for _, launches in shown]
    assert summaries[0] == summaries[1] == "1 launch, 0 findings"
    assert summaries[3].startswith("18 launches of 4 kernels")


def test_what_can_t_be_traced_is_one_sentence():
    [imported], [off] = outputs_of(
        "%load_ext tilescope", "from numba import cuda", "%tilescope on", "%tilescope off"
    )[2:]
    assert imported["error"] == (
        "UsageError: Numba is imported already, so its launches can't be traced. "
        "Restart the kernel, and run %tilescope on before the cells that import it."
    )
    assert off["error"].startswith("UsageError: Write %tilescope on, to trace all launches")


def test_an_exercise_uses_the_imports_of_a_checked_cell():
    imports = f"%%tilescope\n{IMPORTS}\n{MAP.format(wrong='').replace('TEN', '10')}{LAUNCH}"
    [shown] = outputs_of(LOAD, imports, f"{MAP.format(wrong='').replace('TEN', '10')}{CHECK}")[2]
    assert shown["text/plain"].endswith("Map: one thread, one element: passed")
