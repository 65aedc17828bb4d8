"""`tilescope run` and `check` on notebooks: cells in order, findings at cell and line, and what is no notebook."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from folders import DATA
from notebooks import LESSON, notebook_text, write_notebook
from patience import PATIENCE
from programs import HEAD, messages_of, run_tilescope
from tilescope.app.cli.programs.cell_value import cell_value
from tilescope.app.cli.reports.outputs import OLD_FORMATS
from tilescope.app.cli.reports.report import Report, traced_data
from tilescope.tracer.storage.trace_file import load

DEVICE = "@cuda.jit(device=True)\ndef plus(a, i, k):\n    return a[i + k]\n"
KERNEL = """@cuda.jit
def shift(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = plus(a, i, FAR)
"""
ACROSS = (HEAD, "FAR = 1", DEVICE, "a, out = np.arange(9, dtype=np.int32), np.zeros(8, np.int32)", KERNEL)


def test_a_course_s_notebook_is_checked_to_its_end_and_blamed_at_cell_and_line(tmp_path):
    done = run_tilescope("check", "--format", "json", str(LESSON), folder=tmp_path)
    assert done.returncode == 1, done.stderr
    (race,) = (finding for finding in json.loads(done.stdout) if finding["severity"] == "error")
    assert (race["kind"], race["file"], race["cell"], race["line"]) == ("race", str(LESSON), 8, 10)
    assert "are written on line 10 and read on line 10" in race["message"]
    skipped = [line for line in done.stderr.splitlines() if "is skipped" in line]
    assert skipped == [
        "tilescope: gpu_lesson.ipynb [1], line 2: !nvidia-smi is skipped, as every shell line is.",
        "tilescope: gpu_lesson.ipynb [1], line 3: %matplotlib is skipped.",
        "tilescope: gpu_lesson.ipynb [1], line 4: %load_ext is skipped.",
        "tilescope: gpu_lesson.ipynb [7], line 2: vector_add? is skipped, as every line that asks for help is.",
        "tilescope: gpu_lesson.ipynb [10], line 1: %%bash is skipped with its cell.",
    ]
    assert "array([7., 7., 7., 7.], dtype=float32)" in done.stderr  # the value of the last line of [6]
    assert "total: 128" in done.stderr


def test_a_cell_that_is_to_raise_does_not_end_the_notebook(tmp_path):
    text = (DATA / "programs" / "deliberate_error.ipynb").read_text()
    path = tmp_path / "lesson.ipynb"
    path.write_text(text)
    done = run_tilescope("run", "--quiet", str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1.0\n")
    assert f'"{path} [2]", line 2, in <module>' in done.stderr and "ZeroDivisionError" in done.stderr
    checked = run_tilescope("check", str(path), folder=tmp_path)
    assert checked.returncode == 1 and ": error: race: " in checked.stdout
    path.write_text(text.replace("raises-exception", "another"))
    assert run_tilescope("run", "--quiet", str(path), folder=tmp_path).stdout == ""


def test_long_values_are_cut_as_jupyter_cuts_them(tmp_path):
    done = run_tilescope("run", "--quiet", str(DATA / "programs" / "long_value.ipynb"), folder=tmp_path)
    lines = done.stdout.splitlines()
    assert (lines[:2], lines[-2:], len(lines)) == (["[0,", " 1,"], [" 999,", " ...]"], 1001)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, "a", (2,), ()], "[1, 'a', (2,), ()]"),
        ({"b": {3, 1}, "a": frozenset({2})}, "{'b': {1, 3}, 'a': frozenset({2})}"),
        ({"long": "x" * 40, "list": [1, "y" * 30]}, f"{{'long': '{'x' * 40}',\n 'list': [1, '{'y' * 30}']}}"),
        ([list(range(30)), 1], "[[0,\n  1,\n" + "".join(f"  {n},\n" for n in range(2, 29)) + "  29],\n 1]"),
        ("z" * 200, repr("z" * 200)),
    ],
)
def test_values_have_the_layout_of_jupyter(value, text):
    assert cell_value(value) == text


def test_a_value_that_holds_itself_has_a_text():
    value: list[object] = [1]
    value.append(value)
    assert cell_value(value) == "[1, [...]]"


@pytest.mark.parametrize("engine", ["simulator", "compiled"])
def test_cells_share_names_and_each_is_a_file_of_its_own(tmp_path, engine):
    launching = "shift[1, 16](a, out)\nprint(out)"
    path = write_notebook(tmp_path / "parts.ipynb", *ACROSS, launching)
    done = run_tilescope("run", "--engine", engine, str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "[1 2 3 4 5 6 7 8]\n"), done.stderr
    trace = load(tmp_path / "tilescope-traces" / "000-shift.npz")
    sites = {(site.function, site.file, site.line) for site in trace.sites}
    assert sites == {("plus", f"{path} [3]", 3), ("shift", f"{path} [5]", 5)}
    assert trace.sources[f"{path} [3]"] == DEVICE
    assert trace.sources[f"{path} [5]"].startswith(KERNEL)
    assert trace.made_by.endswith(", compiled") == (engine == "compiled")


def test_a_finding_is_named_in_each_format_as_its_reader_takes_it(tmp_path):
    outside = KERNEL.replace("if i < out.size", "if i < 16")
    cells = (*ACROSS[:4], outside, "shift[1, 16](a, out)")
    write_notebook(tmp_path / "over.ipynb", *cells)
    text = run_tilescope("check", "over.ipynb", folder=tmp_path)
    assert text.stdout.startswith("over.ipynb [3]:3: error: bounds: ")
    assert "(also out on line 5 of over.ipynb [5])" in text.stdout
    (finding, *_) = json.loads(written("json"))
    assert (finding["file"], finding["cell"], finding["line"]) == ("over.ipynb", 3, 3)
    assert finding["places"] == [{"file": "over.ipynb", "cell": 5, "line": 5, "name": "out"}]
    annotation = "::error file=over.ipynb,title=bounds::cell 3, line 3: 8 accesses are outside."
    assert written("github") == f"{annotation} [TS201 confirmed]\n"


def written(form: str) -> str:
    """Return a finding in two cells as `check` prints it."""
    place = {"file": "over.ipynb [5]", "line": 5, "name": "out"}
    finding = {
        "kind": "bounds", "severity": "error", "file": "over.ipynb [3]", "line": 3,
        "message": "8 accesses are outside.", "places": [place], "rule": "TS201", "confidence": "confirmed",
    }  # fmt: skip
    return OLD_FORMATS[form](Report("over.ipynb", [finding], [], traced_data(launches=1), True, {}))


def test_a_notebook_is_run_in_its_folder_as_jupyter_would(tmp_path):
    (tmp_path / "week 3").mkdir()
    (tmp_path / "week 3" / "beside.py").write_text("here = 'beside'\n")
    cells = (
        "import os, sys, beside\nprint(beside.here, os.path.basename(os.getcwd()), __name__, '__file__' in globals())",
        "",
        "  \n",
        "from __future__ import annotations\nx: Undefined = 3",
        "display(x, 'x')\nx * 2;",
        "%%time\nx + 1",
        "_ + 1",
        "%%capture out\n%timeit -n 3 -r 2 print('once')\nif x:\n    !ls \\\n        -l\ny: Undefined = x",
        "text = '''\n%not a magic\n!nor this\n'''\nprint(text)\nfiles = !ls\nget_ipython().run_line_magic('who', '')",
        "sys.exit(7)",
    )
    path = write_notebook(tmp_path / "week 3" / "as is.ipynb", *cells)
    done = run_tilescope("run", "--out", "t", str(path.relative_to(tmp_path)), folder=tmp_path)
    assert done.returncode == 7, done.stderr
    assert done.stdout == "beside week 3 __main__ False\n3\n'x'\n4\n5\nonce\n\n%not a magic\n!nor this\n\n"
    assert [line.split(": ")[1] for line in done.stderr.splitlines()[:2]] == [
        "as is.ipynb [6], line 4", "the call of get_ipython().run_line_magic is skipped."
    ]  # fmt: skip
    assert (tmp_path / "t").is_dir()


def test_functions_of_cells_may_ask_numba_to_keep_them(tmp_path):
    cells = (
        "import numpy as np\nfrom numba import njit, vectorize",
        "@njit(cache=True)\ndef more(x):\n    return x + 1\n\n@vectorize(cache=True)\ndef twice(x):\n    return x * 2",
        "print(more(3), twice(np.ones(2)))",
    )
    done = run_tilescope(
        "run", "--quiet", str(write_notebook(tmp_path / "kept.ipynb", *cells)), folder=tmp_path
    )
    assert (done.returncode, done.stdout) == (0, "4 [2. 2.]\n"), done.stderr


def test_plots_are_drawn_without_a_window_and_stop_nothing(tmp_path):
    """Where matplotlib is not installed, what draws is left out, and all else goes on."""
    fake = tmp_path / "has" / "matplotlib"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("import os\nprint('backend', os.environ['MPLBACKEND'])\n")
    (tmp_path / "has" / "IPython.py").write_text("get_ipython = lambda: None\n")
    (fake / "pyplot.py").write_text("def show(): print('shown')\n")
    cells = (
        "import numpy as np, matplotlib.pyplot as plt\nfrom IPython.display import HTML, display as show",
        "for k in range(2):\n    seen = k\nplt.show()\nprint('after', seen)",
        "fig, ax = plt.subplots()\nax.plot([1])\nfig.x = 3\nax[0] = 1\n"
        "show(HTML('x'))\nshow('end')\nprint(np.add(1, 1))",
    )
    shell = "from IPython import get_ipython\nget_ipython().run_line_magic('matplotlib', 'inline')"
    path = write_notebook(tmp_path / "plots.ipynb", shell, "import matplotlib.pyplot as plt", cells[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "has"), *sys.path])}
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", str(path)]
    drawn = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert drawn.stdout == "backend Agg\nshown\nafter 1\n", drawn.stderr
    write_notebook(path, "import sys\nsys.modules['matplotlib'] = sys.modules['IPython'] = None", *cells)
    left_out = run_tilescope("run", "--quiet", str(path), folder=tmp_path)
    assert (left_out.returncode, left_out.stdout) == (0, "after 1\n'end'\n2\n"), left_out.stderr
    assert left_out.stderr.splitlines() == [
        "tilescope: plots.ipynb [2], line 1: matplotlib is not installed, so its drawings are skipped.",
        "tilescope: plots.ipynb [2], line 2: IPython is not installed, so its drawings are skipped.",
    ]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("x = 1", "def f(:\n    pass"), 'bad.ipynb [2]", line 1'),
        (("x = 1", "y = 2\n1 / 0"), 'bad.ipynb [2]", line 2, in <module>\n    1 / 0'),
        (("import asyncio", "x = 1\nawait asyncio.sleep(0)"), "await outside a function is not supported"),
        (("x = input('size? ')",), "EOFError"),
        (("%%time\n\nx = (",), 'bad.ipynb [1]", line 3'),
        (("import no_such_module",), "No module named 'no_such_module'"),
        (("x = 1\n%%time\n",), 'bad.ipynb [1]", line 2'),
    ],
)
def test_errors_of_a_cell_are_reported_as_by_python(tmp_path, cells, message):
    path = write_notebook(tmp_path / "bad.ipynb", *cells)
    done = run_tilescope("run", "--quiet", str(path), folder=tmp_path, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert message in done.stderr
    assert "run_notebook" not in done.stderr and "app/cli" not in done.stderr


def test_a_cell_that_waits_for_ever_is_ended_and_named(tmp_path):
    waiting = "@cuda.jit\ndef wait(flag):\n    while flag[0] == 0:\n        pass\n\nwait[1, 4](np.zeros(1, np.int32))"
    done = run_tilescope("check", str(write_notebook(tmp_path / "w.ipynb", HEAD, waiting)), folder=tmp_path)
    assert done.returncode == 1
    assert "w.ipynb [2]:3: error: launch: 1 launch does not end: " in done.stdout
    assert 'w.ipynb [2]", line 3, in' in done.stderr
    endless = write_notebook(tmp_path / "e.ipynb", "x = 1", "print('on', flush=True)\nwhile True:\n    pass")
    command = [sys.executable, "-m", "tilescope", "run", "--quiet", str(endless)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert 'e.ipynb [2]", line ' in error and error.endswith("KeyboardInterrupt\n")


PLAIN = json.loads(notebook_text("x = 1"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is no notebook: it is not JSON"),
        ('{"cells": [', "is no notebook: it is not JSON (line 1: "),
        ("x = 1\n", "is no notebook: it is not JSON"),
        ("[1, 2]", "is no notebook: it is JSON, but holds no cells"),
        ('{"a": 1}', "is no notebook: it is JSON, but holds no cells"),
        (b"\xff\xfe", "is no notebook: it is not a text in UTF-8"),
        (json.dumps({**PLAIN, "nbformat": 5}), "is a notebook of format 5, which is too new"),
        (json.dumps({**PLAIN, "cells": 3}), "is a damaged notebook"),
        (json.dumps({**PLAIN, "cells": [{"cell_type": "code"}]}), "is a damaged notebook"),
        (notebook_text(), "has no code cells"),
        (notebook_text("", " \n"), "has no code cells"),
        (notebook_text("1 -> x", language_info={"name": "R"}), "is a notebook in 'r'; only Python notebooks can run"),
        (notebook_text("x", kernelspec={"name": "julia-1.9", "language": "julia"}), "is a notebook in 'julia'"),
        (notebook_text("x = '\ud800'"), "its cell 2 contains half of a surrogate pair"),
        (notebook_text("x = '\0'"), "its cell 2 contains a null character"),
        ("[" * 100_000, "is no notebook: its parts are nested too deeply"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_notebook_is_refused_in_a_sentence(tmp_path, content, message, capsys):
    from tilescope.app.cli.main import main

    path = tmp_path / "some.ipynb"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["check", str(path)]) == 2
    out, error = capsys.readouterr()
    assert out == "" and error.startswith("tilescope: some.ipynb ") and error.count("\n") == 1
    assert message in error


def test_notebooks_of_format_3_run_too(tmp_path):
    cell = {
        "cell_type": "code",
        "collapsed": False,
        "input": "print(6 * 7)",
        "language": "python",
        "outputs": [],
    }
    old = {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": [cell], "metadata": {}}],
    }
    (tmp_path / "old.ipynb").write_text(json.dumps(old))
    done = run_tilescope("run", "--quiet", "old.ipynb", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


def test_notebook_modules_are_imported_only_for_notebooks(tmp_path):
    (tmp_path / "plain.py").write_text("import sys\nprint('nbformat' in sys.modules)\n")
    assert run_tilescope("run", "--quiet", "plain.py", folder=tmp_path).stdout == "False\n"
    assert messages_of(run_tilescope("run", "--quiet", "plain.py", folder=tmp_path)) == ""
