"""`tilescope run` and `tilescope check`: programs behave as under python, and their launches are recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from patience import PATIENCE
from programs import COPY, HEAD, RACE, run_tilescope
from tilescope.tracer.storage.trace_file import load

FIXED = RACE.replace("tile[t] = t\n", "tile[t] = t\n    cuda.syncthreads()\n")


def test_a_program_runs_as_under_python(script, tmp_path):
    path = script(
        """
        import sys, os
        print(sys.argv, __name__, __file__, sys.path[0] == os.path.dirname(os.path.abspath(__file__)))
        print("numba" in sys.modules, "numpy" in sys.modules)
        print(sys.stdin.read())
        sys.exit(7)
        """
    )
    ours = run_tilescope(
        "run", "--quiet", str(path), "--", "-x", "--json", "words", folder=tmp_path, input="typed"
    )
    plain = subprocess.run(
        [sys.executable, str(path), "-x", "--json", "words"],
        capture_output=True,
        text=True,
        input="typed",
        check=False,
    )
    assert (ours.returncode, ours.stdout, ours.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert ours.returncode == 7


def test_every_launch_is_saved_and_reported_in_json(script, tmp_path):
    path = script(COPY + "copy[1, 8](a, out)\nprint(out.sum())\n")
    done = run_tilescope("run", "--json=lines.json", "--schedule", "sequential", str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "780\n"
    first, second = (json.loads(line) for line in (tmp_path / "lines.json").read_text().splitlines())
    assert (first["launch"], first["kernel"], first["grid"], first["block"]) == (
        0,
        "copy",
        [2, 1, 1],
        [32, 1, 1],
    )
    assert first["accesses"] == 80
    assert first["counters"]["global_load_requests"] == 2
    assert first["counters"]["global_load_sectors"] == 5
    assert first["seconds"] > 0
    assert first["findings"] == [] or all(f["severity"] != "error" for f in first["findings"])
    assert second["accesses"] == 16
    traces = [load(p) for p in sorted((tmp_path / "tilescope-traces").iterdir())]
    assert [len(t) for t in traces] == [80, 16]
    assert traces[0].schedule == "sequential"
    assert traces[0].sources[str(path)] == path.read_text()


def test_quiet_saves_nothing(script, tmp_path):
    done = run_tilescope("run", "--quiet", str(script(COPY)), folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"]


def test_an_exception_is_shown_as_by_python_and_what_was_recorded_is_kept(script, tmp_path):
    path = script(COPY + "def fail():\n    raise KeyError('oh')\nfail()\n")
    ours = run_tilescope("run", str(path), folder=tmp_path)
    plain = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
    )
    assert ours.returncode == plain.returncode == 1
    assert ours.stderr.startswith(plain.stderr)
    assert len(list((tmp_path / "tilescope-traces").iterdir())) == 1


def test_a_kernel_that_raises_raises_in_the_program(script, tmp_path):
    path = script(
        HEAD
        + """
@cuda.jit
def bad(out):
    if cuda.grid(1) == 3:
        raise ValueError("no")

try:
    bad[1, 4](np.zeros(4))
except ValueError as error:
    print(error)
"""
    )
    done = run_tilescope("run", str(path), folder=tmp_path)
    assert done.stdout == "tid=[3, 0, 0] ctaid=[0, 0, 0]: no\n"
    kept = load(next((tmp_path / "tilescope-traces").iterdir()))
    assert kept.error is not None


def test_a_bad_grid_and_no_launch_at_all(script, tmp_path):
    path = script(COPY + "try:\n    copy[0, 8](a, out)\nexcept ValueError as error:\n    print('bad grid')\n")
    done = run_tilescope("run", str(path), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    none = run_tilescope("run", "--out", "none", str(script("print(1)")), folder=tmp_path)
    assert (none.returncode, none.stdout) == (0, "1\n")
    assert "0 launches" in none.stderr


def test_modules_run_too(script, tmp_path):
    script("import sys\nprint(__name__, sys.argv[1:])\n")
    done = run_tilescope("run", "--quiet", "-m", "program", "-m", "x", folder=tmp_path)
    assert done.stdout == "__main__ ['-m', 'x']\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "missing.py"], "no script missing.py"),
        (["run", f"{300 * 'a'}/missing.py"], "no script aaa"),
        (["run", "-m", "no_such_module_at_all"], "no module no_such_module_at_all"),
        (["run"], "no program is named"),
        (["check", "--format", "xml", "missing.py"], "invalid choice: 'xml'"),
        (["run", "--resident", "0", "missing.py"], "from 1 on"),
        (["run", "--blocks", "one", "missing.py"], "block numbers"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_status_2(tmp_path, words, text):
    done = run_tilescope(*words, folder=tmp_path)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_trace_that_cannot_be_saved_is_reported_and_the_program_goes_on(script, tmp_path):
    gone = "import shutil\nshutil.rmtree('tilescope-traces')\ncopy[2, 32](a, out)\ncopy[2, 32](a, out)\nprint('on')\n"
    done = run_tilescope("run", str(script(COPY + gone)), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "on\n")
    assert done.stderr.count("Can't save") == 1 and "1 of 3 launches traced" in done.stderr


def test_ctrl_c_keeps_what_was_recorded(script, tmp_path):
    path = script(COPY + "import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "tilescope", "run", str(path)]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    assert process.returncode == 130
    assert len(list((tmp_path / "tilescope-traces").iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_records_nothing(script, tmp_path):
    path = script(
        COPY + "import os\nif os.fork() == 0:\n    copy[1, 4](a, out)\n    os._exit(0)\nos.wait()\n"
    )
    assert run_tilescope("run", str(path), folder=tmp_path).returncode == 0
    assert len(list((tmp_path / "tilescope-traces").iterdir())) == 1


def test_a_trace_is_kept_of_a_launch_with_accesses_outside(script, tmp_path):
    path = script(COPY + "copy[1, 32](a[:8], out)\nprint('reached')\n")
    done = run_tilescope("run", str(path), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "reached\n")
    assert len(load(tmp_path / "tilescope-traces" / "001-copy.npz").outside.text) == 24


def test_check_finds_the_race_and_passes_its_correct_twin(script, tmp_path):
    path = script(RACE)
    wrong = run_tilescope("check", str(path), folder=tmp_path)
    assert wrong.returncode == 1
    line = 1 + RACE.splitlines().index("    out[t] = tile[63 - t]")
    stores = 1 + RACE.splitlines().index("    tile[t] = t")
    first = wrong.stdout.splitlines()[0]
    assert first.startswith((f"{path}:{line}: error: race: ", f"{path}:{stores}: error: race: ")), (
        wrong.stdout
    )
    right = run_tilescope("check", str(script(FIXED)), folder=tmp_path)
    assert right.returncode == 0, right.stdout
    assert "error" not in right.stdout


def test_check_formats(script, tmp_path):
    path = script(RACE + "print('from the program')\n")
    output = run_tilescope("check", "--format", "json", str(path), folder=tmp_path)
    findings = json.loads(output.stdout)
    assert "race" in {f["kind"] for f in findings if f["severity"] == "error"}
    assert "from the program" in output.stderr
    github = run_tilescope("check", "--format", "github", str(path), folder=tmp_path)
    assert f"::error file={path},line=" in github.stdout


def test_check_of_a_program_that_raises_is_2(script, tmp_path):
    assert run_tilescope("check", str(script("raise ValueError(1)")), folder=tmp_path).returncode == 2
    assert run_tilescope("check", str(script("def f(:\n")), folder=tmp_path).returncode == 2


def test_check_goes_on_after_an_access_outside(script, tmp_path):
    path = script(COPY + "copy[1, 32](a[:8], out)\nprint('reached')\n")
    done = run_tilescope("check", str(path), folder=tmp_path)
    assert done.returncode == 1
    assert "reached" in done.stderr
    assert "error: bounds: " in done.stdout


REPEATED = """
from numba import vectorize

@vectorize(["float32(float32, float32)"], target="cuda")
def add(x, y):
    return x + y

print(add(np.arange(4, dtype=np.float32), np.float32(10)).tolist())
"""

CONSTANT = """
TABLE = np.arange(4, dtype=np.float32)

@cuda.jit
def sums(out):
    table = cuda.const.array_like(TABLE)
    for n in range(out.size):
        for k in range(4):
            out[n] += table[k]

out = np.zeros(20000, np.float32)
sums[1, 1](out)
print(out.sum())
"""


@pytest.mark.parametrize(
    ("text", "printed"), [(REPEATED, "[10.0, 11.0, 12.0, 13.0]"), (CONSTANT, "120000.0")]
)
def test_memory_that_no_thread_writes(script, tmp_path, text, printed):
    """A scalar that a ufunc repeats, and a constant array of a launch that starts again, compiled."""
    done = run_tilescope("run", "--quiet", str(script(HEAD + text)), folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr


def test_numba_is_imported_without_what_a_gpu_needs_and_leaves_nothing_in_its_place(
    script, tmp_path, tmp_path_factory
):
    pytest.importorskip("numba_cuda")
    site = tmp_path_factory.mktemp("site-packages")  # the imports of a library get no stand-ins
    (site / "views.py").write_text(
        "from cuda.core import Buffer\nfrom cuda.core.utils import StridedMemoryView\n"
    )
    path = script(
        f"""
        import gc, sys
        from numba import cuda
        print([name for name in sys.modules if name.startswith("cuda.core")], gc.isenabled())
        sys.path.append({str(site)!r})
        from views import Buffer, StridedMemoryView
        print(hasattr(Buffer, "from_handle"), hasattr(StridedMemoryView, "from_dlpack"))
        """
    )
    done = run_tilescope("run", "--quiet", str(path), folder=tmp_path)
    assert done.stdout == "[] True\nTrue True\n", done.stderr
