"""Replays in the output of a notebook: the frame in a real browser, sizes that are asked for first, and problems."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import tilescope
from browser import Browser, needs_chromium, open_browser
from launching import Array, launch
from patience import PATIENCE
from tilescope.app.model.session import session_of_file
from tilescope.app.replays.page import unpacked
from tilescope.app.views.counters.numbers import tiles_of
from tilescope.tracer.simulator.numba_patch import run as run_simulator

ROOT = Path(tilescope.__file__).parent
REVERSE = """
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    out[t] = tile[63 - t]
"""
LOOP = "@cuda.jit\ndef kernel(a):\n    for i in range(400):\n        a[i] = a[i] + 1\n"


def traced(folder, source, arrays, **sizes):
    """Return a launch as `tilescope.trace` does."""
    folder.mkdir(exist_ok=True)
    trace = run_simulator(launch(folder, source, arrays, **sizes), lambda done, total: None)
    return tilescope.TracedLaunch(lambda: trace)


@pytest.fixture(scope="module")
def reversed_row(tmp_path_factory):
    arrays = (Array((64,), fill="arange"), Array((64,), fill="zeros"))
    return traced(tmp_path_factory.mktemp("reverse"), REVERSE, arrays, block=(64, 1, 1))


@pytest.fixture(scope="module")
def browser():
    with open_browser() as chromium:
        yield chromium


def notebook(folder: Path, html: str, colours: str = "") -> Path:
    """Write a page that contains outputs as JupyterLab inserts them: by innerHTML, which runs no scripts."""
    path, cell = folder / "notebook.html", folder / "output.html"
    cell.write_text(html, "utf-8")
    path.write_text(
        f"<!doctype html><meta charset=utf-8><body style='margin:0;{colours}'><div id=output></div>"
        f"<template id=saved>{html}</template>"
        "<script>output.innerHTML = saved.innerHTML</script>",
        "utf-8",
    )
    return path


def enter(browser: Browser, page: Path, width: int = 1280) -> Browser:
    """Open a notebook and enter the frame of its output."""
    browser.driver.switch_to.default_content()
    browser.size(width, 800)
    browser.driver.get("about:blank")
    browser.console_messages()
    browser.driver.get_log("performance")
    browser.driver.get(page.as_uri())
    browser.driver.switch_to.frame(browser.driver.find_element("css selector", "iframe"))
    browser.wait("return !!window.replay")
    return browser


def numbers(page: Browser, pane: int = 0) -> list[str]:
    """List the counters below a picture."""
    script = "return [...document.querySelectorAll('.pane')[arguments[0]].querySelectorAll('dd')]"
    texts: list[str] = page.run(f"{script}.map(e => e.textContent)", pane)
    return texts


@needs_chromium
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_saved_output_plays_steps_and_scrubs_with_the_numbers_of_the_trace(
    browser, reversed_row, tmp_path, width
):
    reversed_row.save(tmp_path / "kernel.npz")
    session = session_of_file(tmp_path / "kernel.npz")
    file = notebook(tmp_path, reversed_row._repr_mimebundle_()["text/html"])
    page = enter(browser, file, width)
    page.run("replay.speed.value = '1000'; replay.seek(0); document.querySelector('.primary').click()")
    page.wait(f"return replay.position >= {session.end} && !replay.playing")
    page.run("document.querySelector('.start').click(); document.querySelector('.forward').click()")
    assert page.run("return replay.position") == 1
    box = page.run(
        "const t = replay.timelines[0].timeline, box = t.canvas.getBoundingClientRect();"
        "return [box.left + t.x(arguments[0]), box.top + t.top + 4]",
        3.2,
    )
    page.run(
        "const [x, y] = arguments[0], row = replay.timelines[0].row;"
        "for (const kind of ['pointerdown', 'pointerup']) row.dispatchEvent(new PointerEvent("
        "kind, {clientX: x, clientY: y, bubbles: true, pointerId: 1, button: 0, isPrimary: true}))",
        box,
    )
    assert page.run("return Math.floor(replay.position)") == 3
    for now in range(session.end + 1):
        page.run("replay.seek(arguments[0])", now)
        assert numbers(page) == [tile.text(now) for tile in tiles_of(session)]
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    assert page.console_messages() == []
    assert set(page.requests()) <= {file.as_uri()}


@needs_chromium
@pytest.mark.parametrize(
    ("colours", "theme"),
    [("color:#222;background:white", "light"), ("color:oklch(0.9 0.02 90);background:#111", "dark")],
)
def test_the_frame_follows_the_theme_of_the_notebook(browser, reversed_row, tmp_path, colours, theme):
    browser.prefer(color_scheme="light")
    page = enter(browser, notebook(tmp_path, reversed_row.replay()._repr_html_(), colours))
    page.wait(f"return document.documentElement.dataset.theme === '{theme}'")
    other = {"light": "dark", "dark": "light"}[theme]
    page.driver.switch_to.default_content()
    page.run("document.body.style.color = arguments[0]", {"light": "#222", "dark": "#eee"}[other])
    page.driver.switch_to.frame(page.driver.find_element("css selector", "iframe"))
    page.wait(f"return document.documentElement.dataset.theme === '{other}'")


@needs_chromium
def test_the_frame_reaches_nothing_of_the_notebook(browser, reversed_row, tmp_path):
    page = enter(browser, notebook(tmp_path, reversed_row._repr_html_()))
    reached = "try { return parent.document.title } catch (error) { return error.name }"
    assert page.run(reached) == "SecurityError"
    assert page.run("return origin") == "null"


@needs_chromium
def test_two_launches_play_side_by_side(browser, reversed_row, tmp_path):
    arrays = (Array((64,), fill="arange"), Array((64,), fill="zeros"))
    without = traced(
        tmp_path / "other", REVERSE.replace("    cuda.syncthreads()\n", ""), arrays, block=(64, 1, 1)
    )
    page = enter(browser, notebook(tmp_path, reversed_row.replay(without)._repr_html_()))
    assert page.run("return document.querySelectorAll('canvas.picture').length") == 2
    page.run("replay.seek(1000)")
    assert numbers(page, 0) and numbers(page, 1)


def test_the_page_can_be_saved_and_a_part_of_it_drawn(reversed_row, tmp_path):
    reversed_row.replay().save(tmp_path / "replay.html")
    assert (tmp_path / "replay.html").read_text("utf-8") == reversed_row.replay().page
    assert unpacked(reversed_row.replay(moment=2).page)["steps"][0]["stand"] == 2
    part = reversed_row.replay(begin="1", end="2")
    assert len(part.page) < len(reversed_row.replay().page)
    with pytest.raises(tilescope.TilescopeError, match="folder"):
        reversed_row.replay().save(tmp_path / "none" / "replay.html")
    with pytest.raises(tilescope.TilescopeError, match="phase 9"):
        reversed_row.replay(begin="phase 9").save(tmp_path / "none.html")


def test_a_large_replay_is_drawn_once_the_user_agrees(tmp_path):
    long = traced(tmp_path / "loop", LOOP, (Array((400,), fill="zeros"),))
    html = unescape(long._repr_html_())
    assert "800 moments, about 5 s and 0.8 MB" in html.replace("801", "800")
    assert "launch.replay(large=True)" in html
    assert "<iframe" not in html
    assert "<iframe" in long.replay(large=True)._repr_html_()
    assert "<iframe" in long.replay(end="40")._repr_html_()


def test_a_notebook_with_a_display_that_is_gone_and_without_qt(tmp_path):
    """Trace and show in a fresh process: Qt stays out of it, and what is missing is one sentence."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import sys
            import numpy as np
            import tilescope
            from numba import cuda

            @cuda.jit
            def double(a):
                a[cuda.threadIdx.x] *= 2

            launch = tilescope.trace(double[1, 32], np.ones(32, np.float32))
            print(launch._repr_mimebundle_()["text/html"][:400])
            print(any(name.startswith("PySide6") for name in sys.modules))
        """)
    )

    def output(**variables: str) -> list[str]:
        environment = {**os.environ, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": "0", **variables}
        done = subprocess.run(
            [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert not done.returncode, done.stderr
        return done.stdout.splitlines()

    html, has_qt = output(DISPLAY=":77", QT_QPA_PLATFORM="xcb")
    assert html.startswith("<iframe")
    assert has_qt == "False"
    missing = tmp_path / "missing"
    (missing / "PySide6").mkdir(parents=True)
    (missing / "PySide6" / "__init__.py").write_text(
        "raise ImportError('libEGL.so.1: cannot open shared object file')"
    )
    html, has_qt = output(PYTHONPATH=str(missing))
    assert html == (
        "<p>Replays are drawn with PySide6, which can&#x27;t be loaded (libEGL.so.1: cannot open shared object file); "
        "install what is missing.</p>"
    )
    assert has_qt == "False"


def test_a_64_cube_takes_at_most_3_mb(tmp_path):
    program = """
@cuda.jit
def kernel(a, b, c):
    x, y = cuda.grid(2)
    total = float32(0)
    for k in range(64):
        total += a[y, k] * b[k, x]
    c[y, x] = total
"""
    arrays = tuple(Array((64, 64), fill=fill) for fill in ("random", "random", "zeros"))
    cube = traced(tmp_path / "cube", program, arrays, grid=(4, 4, 1), block=(16, 16, 1))
    assert len(cube._repr_html_()) < 3_000_000
    assert "<iframe" in cube._repr_html_()
    assert np.sum(cube.trace["op"] == 1) == 64 * 64
