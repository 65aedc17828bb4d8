"""What a traced launch offers: pictures, files, the window, texts; and what is loaded for it, and when."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from PySide6.QtGui import QImage

import tilescope
from launching import Array, launch
from patience import PATIENCE
from tilescope.api.findings import Finding
from tilescope.tracer.model.launch import decode, encode
from tilescope.tracer.simulator.numba_patch import run as run_simulator
from tilescope.tracer.storage.trace_file import load

ROOT = Path(tilescope.__file__).parent
DOUBLE = "@cuda.jit\ndef kernel(a):\n    i = cuda.grid(1)\n    a[i] = 2 * a[i]\n"


@pytest.fixture(scope="module")
def doubled(tmp_path_factory):
    """Return a traced launch of 64 threads in 2 blocks."""
    described = launch(
        tmp_path_factory.mktemp("kernel"),
        DOUBLE,
        (Array((64,), fill="arange"),),
        grid=(2, 1, 1),
        block=(32, 1, 1),
    )
    trace = run_simulator(described, lambda done, total: None)
    return tilescope.TracedLaunch(lambda: trace)


def test_a_picture_has_its_size_and_shows_the_launch(doubled):
    image = QImage.fromData(doubled.picture(1, theme="dark", size=(900, 600)))
    assert (image.width(), image.height()) == (900, 600)
    colours = {image.pixel(x, y) for x in range(0, 900, 7) for y in range(0, 600, 7)}
    assert len(colours) > 20
    assert np.mean([QImage.pixelColor(image, x, 5).lightness() for x in range(0, 900, 50)]) < 100  # dark


def test_a_picture_that_can_t_be_drawn_has_a_reason(doubled):
    with pytest.raises(tilescope.TilescopeError, match=r"The picture can't be drawn: .*size"):
        doubled.picture(size=(3, 3))


def test_the_accesses_are_read_only_columns(doubled):
    trace = doubled.trace
    assert list(trace) == ["block", "thread", "phase", "op", "buffer", "index", "value", "step", "line"]
    stores = trace["op"] == trace.OPERATIONS.index("store")
    assert trace["value"][stores].tolist() == [2 * n for n in trace["index"][stores].tolist()]
    assert set(trace.files) == set(doubled._recorded[0].sources)
    assert set(trace["line"].tolist()) == {doubled._recorded[0].sources and 4 + _first_line(doubled)}
    with pytest.raises(ValueError, match="read-only"):
        trace["index"][0] = 1
    assert trace.line.tolist() == trace["line"].tolist()
    with pytest.raises(KeyError):
        trace["site"]
    with pytest.raises(AttributeError, match=r"'site' is no column .* block, thread"):
        _ = trace.site


def _first_line(traced):
    """Count the lines before the kernel in its file."""
    [text] = traced._recorded[0].sources.values()
    return text.splitlines().index("@cuda.jit")


def test_a_saved_launch_is_a_trace_file_and_a_failure_is_reported(doubled, tmp_path):
    doubled.save(tmp_path / "doubled.npz")
    assert load(tmp_path / "doubled.npz").kernel == "kernel"
    with pytest.raises(tilescope.TilescopeError, match="its folder does not exist"):
        doubled.save(tmp_path / "none" / "doubled.npz")


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_the_window_opens_in_a_separate_process(doubled, monkeypatch):
    started: list[subprocess.Popen] = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **names: started.append(popen(*words, **names)))
    doubled.show()
    [window] = started
    file = Path(window.args[-1])
    assert load(file).kernel == "kernel"
    loaded = lambda: "libQt6Widgets" in Path(f"/proc/{window.pid}/maps").read_text()  # noqa: E731
    while window.poll() is None and not loaded():
        time.sleep(0.02)
    assert window.poll() is None
    window.terminate()
    window.wait(PATIENCE)
    shutil.rmtree(file.parent)  # as the window does that is closed


def test_without_a_display_the_window_is_refused(doubled, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(tilescope.TilescopeError, match="no display"):
        doubled.show()


def test_a_finding_of_a_notebook_s_cell_names_the_cell(monkeypatch):
    compile = SimpleNamespace(
        format_code_name=lambda file: ("Cell", "In[3]") if "ipykernel" in file else None
    )
    shell = SimpleNamespace(compile=compile)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    words = ("race", "error", "it races.", "")
    assert str(Finding(*words, "/tmp/ipykernel_7/1.py", 4, "k")) == "Cell In[3]:4: error: race: it races."
    assert str(Finding(*words, "mine.py", 4, "k")) == "mine.py:4: error: race: it races."


def loaded_after(statement):
    command = [sys.executable, "-P", "-c", f"import sys; {statement}; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_importing_tilescope_loads_next_to_nothing():
    loaded = loaded_after("import tilescope; assert 'trace' in dir(tilescope)")
    assert not loaded & {"numpy", "numba", "numba_cuda", "PySide6", "msgspec"}


def test_its_functions_load_neither_numba_nor_qt():
    loaded = loaded_after("from tilescope import *; trace, trace_launches, check")
    assert "numpy" in loaded and not loaded & {"numba", "numba_cuda", "PySide6", "greenlet"}


def test_every_public_name_is_documented():
    text = (ROOT / "docs/pages/how-to/api.md").read_text(encoding="utf-8")
    section = text.partition("## What stays")[2].partition("\n## ")[0]
    names = set(tilescope.__all__) - {"__version__"}
    assert {name for name in names if f"`{name}" not in section} == set()
    assert [name for name in names if not getattr(tilescope, name).__doc__] == []
    with pytest.raises(AttributeError, match="has no traces"):
        _ = tilescope.traces


def test_the_old_name_of_trace_launches_works_and_warns():
    with pytest.warns(DeprecationWarning, match=r"tilescope\.trace_launches"):
        context = tilescope.record()
    with context as launches:
        assert launches == []
    assert "record" not in tilescope.__all__


def examples():
    """Return the Python blocks of the README that use the API."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n+(?:```text\n(.*?)```)?", text, re.S)
    return [(code, printed) for code, printed in blocks if "tilescope." in code]


def test_the_examples_in_the_readme_print_the_shown_output(tmp_path):
    [(example, printed), (code, failure)] = examples()
    (tmp_path / "example.py").write_text(example)
    (tmp_path / "test_example.py").write_text(code)
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"}
    command = [sys.executable, "-m", "pytest", "-qs", "-p", "no:cacheprovider", "-W", "ignore"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    output = done.stdout.replace(f"{tmp_path}/", "")
    assert output.startswith(printed), done.stdout
    assert done.returncode == 1 and f"E       {failure.strip()}" in output
    assert load(tmp_path / "reverse.npz").kernel == "reverse"


def test_counters_have_the_sums_that_the_window_shows(doubled):
    counters = doubled.counters
    assert counters["global_sectors"] == counters["global sectors"] == 16 == 2 * 4 * 2
    assert counters["global_requests"] == counters["global_load_requests"] + counters["global_store_requests"]
    assert "global_sectors" not in set(counters) and len(counters) == len(dict(counters))


def test_a_missing_counter_names_the_available_ones(doubled):
    with pytest.raises(KeyError) as raised:
        doubled.counters["global_sectrs"]
    assert str(raised.value).startswith("no counter is called 'global_sectrs'; did you mean global_sectors, ")
    assert isinstance(raised.value, tilescope.TilescopeError)
    assert doubled.counters.get("nothing") is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"schedule": "rand"}, "schedule must be 'lockstep', 'sequential' or 'random', not 'rand'."),
        ({"schedule": None}, "not None"),
        ({"seed": "x"}, "seed must be a whole number from 0 on, not 'x'."),
        ({"fail_on": "eror"}, "fail_on must be 'error' or 'warning', not 'eror'."),
    ],
)
def test_unknown_words_are_refused_before_anything_runs(words, sentence):
    ran = []
    with pytest.raises(tilescope.TilescopeError, match=re.escape(sentence)):
        tilescope.check(lambda: ran.append(1), **words)
    assert not ran
    if "fail_on" not in words:
        with pytest.raises(tilescope.TilescopeError, match=re.escape(sentence)):
            tilescope.trace(None, **words)


def test_compiled_counters_follow_the_compiler(tmp_path):
    text = "@cuda.jit\ndef kernel(a, unused, out):\n    i = cuda.grid(1)\n    x = unused[i]\n    out[i] = a[i] * a[i]\n"
    arrays = (Array((64,), fill="arange"), Array((64,)), Array((64,)))
    described = launch(tmp_path, text, arrays, grid=(2, 1, 1), block=(32, 1, 1))
    trace = run_simulator(described, lambda done, total: None)
    traced = tilescope.TracedLaunch(lambda: trace)
    assert traced.counters["global_load_requests"] == 6
    assert traced.compiled_counters["global_load_requests"] == 2
    assert traced.compiler.startswith("LLVM")


def test_a_kernel_that_can_t_be_compiled_has_no_counters_as_compiled(doubled):
    text = DOUBLE.replace("2 * a[i]", "unknown(a[i])")
    trace = doubled._recorded[0]
    described = msgspec.structs.replace(decode(trace.launch), source=text)
    changed = msgspec.structs.replace(trace, launch=encode(described))
    with pytest.raises(tilescope.TilescopeError, match="kernel has no compiled counters"):
        _ = tilescope.TracedLaunch(lambda: changed).compiled_counters
