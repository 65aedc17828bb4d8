"""Replays in a real browser: opened from disk, played, stepped and dragged, with the trace's own numbers."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QImage, QPainter

from browser import Browser, needs_chromium, open_browser
from launching import Array, launch, trace
from replays import FORM, showing_of, write_replay
from sessions import matmul
from tilescope.app.model.phase_steps import follow_running_block
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.replays.frames import CAPTION, LEGEND
from tilescope.app.replays.showing import looks_of
from tilescope.app.views.counters.numbers import tiles_of
from tilescope.app.views.memory.arrangement import ViewState, Zoom
from tilescope.app.views.memory.picture import MemoryPicture
from tilescope.app.widgets.theme import Theme

pytestmark = needs_chromium
HOSTILE = "</script><script>window.taken=1</script><b>bold</b> & \u202e\"'"
BEYOND = """
@cuda.jit
def kernel(a, out):
    t = cuda.threadIdx.x
    out[t] = a[t + 1]
"""
SIZES = {"m": 8, "k": 8, "n": 8, "tile": 4}


@pytest.fixture(scope="module")
def chromium():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def pair():
    return matmul("matmul-naive-col-on-x", **SIZES), matmul("matmul-tiled", **SIZES)


@pytest.fixture(scope="module")
def file(pair, tmp_path_factory):
    return write_replay(tmp_path_factory.mktemp("replay"), *pair, title=HOSTILE)


@pytest.fixture
def page(chromium, file):
    chromium.size(1280, 800)
    chromium.prefer(color_scheme="light")
    chromium.open(file)
    return chromium


def moment(page: Browser, pane: int = -1) -> int:
    """Return the moment of a pane, as the page describes it to a screen reader."""
    return int(
        page.run("return [...document.querySelectorAll('[role=slider]')].at(arguments[0]).ariaValueNow", pane)
    )


def press(page: Browser, key: str, *, shift: bool = False) -> None:
    event = f"new KeyboardEvent('keydown', {{key: '{key}', shiftKey: {str(shift).lower()}, bubbles: true}})"
    page.run(f"document.body.dispatchEvent({event})")


def numbers(page: Browser, pane: int) -> list[str]:
    script = "return [...document.querySelectorAll('.pane')[arguments[0]].querySelectorAll('dd')].map(e=>e.textContent)"
    texts: list[str] = page.run(script, pane)
    return texts


def test_it_opens_from_disk_without_a_complaint_and_asks_for_nothing_else(page, file):
    page.run("replay.toggle()")
    page.wait("return replay.position > 6")
    press(page, "End")
    assert page.console_messages() == []
    assert page.requests() == [file.as_uri()]


def test_a_title_stays_text(page):
    assert page.text("h1") == "</script><script>window.taken=1</script><b>bold</b> & \\u202e\"'"
    assert page.driver.title == page.text("h1")
    assert page.run("return window.taken") is None
    assert page.run("return document.querySelectorAll('h1 *, body > script').length") == 0


def test_nothing_but_its_own_program_may_run(page):
    page.run(
        "const s = document.createElement('script'); s.textContent = 'window.taken = 1'; document.body.append(s);"
        "const i = new Image(); i.src = 'https://example.org/x.png'; document.body.append(i);"
    )
    assert page.run("return window.taken") is None
    page.wait("return document.querySelector('img').complete")
    assert page.refused() == ["https://example.org/x.png"]


@pytest.mark.parametrize("wanted", [0, 1, 9, 10**6])
def test_its_numbers_are_those_of_the_trace(page, pair, wanted):
    page.run("replay.seek(arguments[0])", wanted)
    for pane, session in enumerate(pair):
        now = moment(page, pane)
        assert numbers(page, pane) == [tile.text(now) for tile in tiles_of(session)]
    tiled = pair[1]
    assert moment(page) == min(wanted, tiled.end)
    counts = tiled.counters.line_counts(moment(page))
    shown = page.run(
        "return [...document.querySelectorAll('.source ol:not([hidden]) li')]"
        ".map(e => [+e.children[0].textContent, e.children[1].textContent]).filter(([, count]) => count)"
    )
    assert {line: int(count.replace(",", "")) for line, count in shown} == {
        line: count for (_, line), count in counts.items() if count
    }


def test_keys_step_and_turn_to_phases_and_ends(page, pair):
    tiled = pair[1]
    press(page, "Home")
    assert moment(page) == 0
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    assert moment(page) == 2
    press(page, "ArrowLeft")
    assert moment(page) == 1
    starts = sorted({int(start) + 1 for start in tiled.requests.span_start.ravel()})
    press(page, "PageDown")
    assert moment(page) == starts[1]
    press(page, "ArrowRight", shift=True)
    assert moment(page) == starts[2]
    press(page, "PageUp")
    assert moment(page) == starts[1]
    press(page, "End")
    assert [moment(page, pane) for pane in (0, 1)] == [session.end for session in pair]


def test_space_plays_to_the_end_and_pauses(page, pair):
    page.run("replay.speed.value = '1000'")
    press(page, "Home")
    press(page, " ")
    page.wait(f"return replay.position >= {pair[1].end} && !replay.playing")
    press(page, "Home")
    page.run("replay.speed.value = '1'")
    press(page, " ")
    page.wait("return replay.position > 2.2")
    assert page.run("return !!replay.playing")
    press(page, " ")
    assert not page.run("return !!replay.playing")
    assert page.run("return replay.shownMoments().every(Number.isInteger)")  # a still picture is a whole one
    assert page.run("return replay.moments()[replay.focus]") == moment(page, page.run("return replay.focus"))


def place_of(page: Browser, wanted: float, pane: int = 1) -> tuple[float, float]:
    """Return the position of a moment in the rows of a timeline, in the page's pixels."""
    x, y = page.run(
        "const t = replay.timelines[arguments[1]].timeline, box = t.canvas.getBoundingClientRect();"
        "return [box.left + t.x(arguments[0]), box.top + t.top + 4]",
        wanted,
        pane,
    )
    return x, y


def test_the_timeline_is_dragged_by_a_mouse(page):
    press(page, "Home")
    for kind, wanted in (("mousePressed", 3.2), ("mouseMoved", 6.3), ("mouseReleased", 6.3)):
        x, y = place_of(page, wanted)
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
        assert moment(page) == int(wanted)


def test_the_timeline_is_dragged_by_a_finger_on_a_phone(chromium, file, pair):
    chromium.size(390, 844, 2.0, phone=True)
    chromium.open(file)
    press(chromium, "Home")
    for kind, wanted in (("touchStart", 3.2), ("touchMove", 9.3)):
        x, y = place_of(chromium, wanted)
        chromium.command("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y}])
        assert moment(chromium) == int(wanted)
    chromium.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    assert chromium.run("return document.documentElement.scrollWidth") == 390
    small = chromium.run(
        "return [...document.querySelectorAll('button')].filter(b => b.offsetHeight && b.offsetHeight < 40)"
        ".map(b => b.textContent || b.ariaLabel)"
    )
    assert [text for text in small if not text.startswith(("line", "moment"))] == []


def test_the_strip_of_all_blocks_covers_the_complete_launch(page, pair):
    x, y = page.run(
        "const box = replay.timelines[1].timeline.canvas.getBoundingClientRect(); return [box.right - 10, box.top + 5]"
    )
    page.command(
        "Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1
    )
    page.command("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, button="left", clickCount=1)
    assert moment(page) > 0.9 * pair[1].end
    assert page.text(".where").endswith("block (1, 1) · phase 4")


def canvas_of(page: Browser, pane: int) -> Image.Image:
    address = page.run("return document.querySelectorAll('canvas.picture')[arguments[0]].toDataURL()", pane)
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGBA")


def painted(sessions: tuple[Session, ...], now: int, theme: str, size: tuple[int, int]) -> Image.Image:
    """Return the pixels of the second pane's view, without the caption that pages have as text."""
    session, look = sessions[1], looks_of(showing_of(*sessions), FORM)[1]
    picture = MemoryPicture(session, Theme.named(theme).with_words_of(session.scenario))
    scales, selection = (
        (look.colour_by, look.tops, Zoom()),
        follow_running_block(session, Selection(), float(now)),
    )
    state = ViewState(FORM.width, FORM.height, LEGEND, look.paired_space, *scales, float(now), selection)
    image = QImage(*size, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(size[0] / FORM.width)
    image.fill(Theme.named(theme).colour("panel"))
    pieces = picture.pieces(state, size[0] / FORM.width)
    above = [piece for piece in pieces.above if piece.name != CAPTION]
    painter = QPainter(image)
    picture.paint(painter, state, pieces._replace(above=above))
    painter.end()
    return Image.frombytes("RGB", size, bytes(image.constBits()), "raw", "BGRX")


def reds(image: Image.Image) -> int:
    """Count the pixels in the red of mistakes."""
    red = tuple(bytes.fromhex(Theme.named("light").palette.bad[1:]))
    return int((np.abs(np.asarray(image.convert("RGB"), int) - red).max(axis=2) < 12).sum())


def drawn(page: Browser, selector: str) -> Image.Image:
    """Return the picture on a canvas."""
    address = page.run("return document.querySelector(arguments[0]).toDataURL()", selector)
    return Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2])))


def test_accesses_outside_arrays_are_crossed_in_the_timeline_and_in_the_legend(chromium, tmp_path):
    arrays = (Array((64,), fill="arange"), Array((64,), fill="zeros"))
    traced = trace(tmp_path, BEYOND, arrays, block=(64, 1, 1))
    session = build_session(launch(tmp_path, BEYOND, arrays, block=(64, 1, 1)), traced, None)
    chromium.size(1280, 800)
    chromium.prefer(color_scheme="light")
    chromium.open(write_replay(tmp_path, session))
    assert reds(drawn(chromium, ".timeline-row canvas")) > 5
    assert reds(drawn(chromium, ".legend li:last-child canvas")) > 5
    assert (
        chromium.run("return document.querySelector('.legend li:last-child').textContent")
        == "outside its array"
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_pictures_are_those_of_the_window(chromium, file, pair, theme, ratio):
    chromium.size(1280, 800, ratio)
    chromium.prefer(color_scheme=theme)
    chromium.open(file)
    for now in (pair[1].end, 5, 12):  # also backwards
        chromium.run("replay.seek(arguments[0])", now)
        shown, width = canvas_of(chromium, 1), chromium.run("return replay.pictureSize[0]")
        assert shown.width == round(width * ratio)
        ground = Image.new("RGB", shown.size, Theme.named(theme).palette.panel)
        ground.paste(shown, mask=shown.getchannel("A"))
        wanted = painted(pair, now, theme, shown.size)
        off = np.abs(np.asarray(ground, int) - np.asarray(wanted, int)).max(axis=2)
        assert (off > 60).mean() < 0.02  # letters and edges are drawn by another hand
        assert (np.asarray(wanted, int).std(axis=2) > 20).mean() > 0.05  # there is something to be seen


def test_the_reader_turns_the_colours(page):
    before = page.run("return getComputedStyle(document.body).backgroundColor")
    page.run("document.querySelector('.theme').click()")
    assert page.run("return getComputedStyle(document.body).backgroundColor") != before
    assert page.run("return document.documentElement.dataset.theme") == "dark"


def test_a_damaged_file_is_reported(chromium, file, tmp_path):
    text = file.read_text("utf-8")
    begin = text.index('<script id="data"') + 200
    damaged = tmp_path / "damaged.html"
    damaged.write_text(text[:begin] + text[begin + 400 :], "utf-8")
    chromium.driver.get(damaged.as_uri())
    chromium.wait("return document.body.textContent.includes('damaged')")


def test_without_javascript_it_names_its_requirements(chromium, file):
    chromium.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.driver.get(file.as_uri())
        assert "needs JavaScript" in chromium.driver.find_element("css selector", "body").text
    finally:
        chromium.command("Emulation.setScriptExecutionDisabled", value=False)
