"""A lecture in a real browser: steps by keys and buttons, questions, charts, playing, readers who want calm."""

from __future__ import annotations

from argparse import Namespace

import pytest

from browser import needs_chromium, open_browser
from tilescope.app.cli.pictures.replay_file import write_replay_file
from tilescope.app.replays.page import unpacked

pytestmark = needs_chromium
LECTURE = """# Doubling

What a lecture begins with.

## One <script>alert(1)</script> step

```tilescope
show: vector-double:count=64,threads=32
at: start
play: to end over 0.4 s
```

There are **{left.blocks}** blocks.

## How many?

```tilescope
at: end
ask: How many threads are in a block?
choices: 4 | 32 | 64
answer: left.threads
panel: warp
```

As many as a warp has lanes.

## What a GPU says

```tilescope
chart: scaling matmul-naive-col-on-x matmul-tiled
```

## Lost or kept?

```tilescope
show: count-racing:num_blocks=1,threads=2,schedule=sequential
at: start
picture: memory
play: to end over 0.2 s
ask: What does the counter hold?
choices: 1 | 2
answer: 2
```

Nothing is lost in this order.
"""


@pytest.fixture(scope="module")
def chromium():
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lecture")
    (folder / "doubling.md").write_text(LECTURE, "utf-8")
    path = folder / "replay.html"
    write_replay_file(Namespace(what=[str(folder / "doubling.md")], output=str(path), text_size=1.0))
    return path


@pytest.fixture
def page(chromium, file):
    chromium.size(1280, 800)
    chromium.prefer(reduced_motion="no-preference")
    chromium.open(file)
    return chromium


def press(page, key):
    page.run(f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))")


def test_a_step_shows_and_plays_the_same_as_in_the_window(page, file):
    end = unpacked(file.read_text("utf-8"))["sessions"][0]["end"]
    assert page.text("h2").startswith("One <script>alert(1)</script> step")
    assert page.text(".caption .introduction") == "What a lecture begins with."
    assert page.text(".caption > p") == "There are 2 blocks."
    page.wait(f"return !replay.playing && replay.position === {end}")
    assert page.console_messages() == []


def test_keys_and_buttons_turn_to_steps(page):
    press(page, "PageDown")
    assert page.text("h2").startswith("How many?")
    assert page.run("return replay.before.disabled") is False
    press(page, "PageDown")
    assert page.text("h2").startswith("What a GPU says")
    press(page, "ArrowRight")
    assert page.text("h2").startswith("What a GPU says")
    for _ in range(2):
        press(page, "PageDown")
        assert page.text("h2").startswith("Lost or kept?")
        assert page.run("return replay.after.disabled") is True
    page.run("replay.before.click()")
    assert page.text("h2").startswith("What a GPU says")
    assert page.console_messages() == []


def test_a_question_keeps_its_answer_until_it_is_asked_for(page):
    page.run("replay.openStep(1)")
    assert "Answer" not in page.text(".question")
    shown = "return getComputedStyle(document.querySelector('.verdict')).visibility"
    assert page.run(shown) == "hidden"  # it would tell what comes out
    page.run("document.querySelectorAll('.choice')[0].click()")
    assert page.text(".answer").startswith("Answer: 32")
    classes = page.run("return [...document.querySelectorAll('.choice')].map(e => e.className)")
    assert classes == ["choice wrong", "choice right", "choice"]
    assert page.run(shown) == "visible"


def test_a_question_hides_its_caption_and_the_end_until_it_is_answered(page, file):
    end = unpacked(file.read_text("utf-8"))["sessions"][1]["end"]
    seen = "return document.querySelector('main').innerText"
    page.run("replay.openStep(3)")
    assert "Nothing is lost" not in page.run(seen) and "race" not in page.run(seen)
    lesson = "return getComputedStyle(document.querySelector('.lesson')).display"
    assert page.run(lesson) == "none"  # it may explain the answer
    assert page.run("return [replay.position, Boolean(replay.playing)]") == [0, False]
    page.run("document.querySelector('.reveal').click()")
    assert page.run(lesson) == "block"
    page.wait(f"return !replay.playing && replay.position === {end}")
    assert "Nothing is lost" in page.run(seen)
    assert page.text(".verdict") == "equals NumPy by luck: other orders may differ"
    assert page.run("return document.querySelector('.verdict').className") == "verdict bad"


def test_pictures_do_not_mark_faults_while_a_question_is_open(page, file):
    end = unpacked(file.read_text("utf-8"))["sessions"][1]["end"]
    pixels = "return document.querySelector('canvas.picture').toDataURL()"
    page.run("replay.openStep(3)")
    page.run(f"replay.seek({end})")
    hidden = page.run(pixels)
    assert "Race" not in page.text("figcaption")
    page.run("document.querySelector('.reveal').click()")
    page.wait(f"return !replay.playing && replay.position === {end}")
    assert "Race" in page.text("figcaption")
    assert page.run(pixels) != hidden
    page.run("replay.openStep(3)")
    page.run(f"replay.seek({end})")
    assert page.run(pixels) == hidden
    assert page.console_messages() == []


def test_a_counter_gives_its_reason_only_with_the_answer(tmp_path):
    (tmp_path / "count.md").write_text(
        "# T" + LECTURE[LECTURE.index("\n\n## Lost") :].replace("picture: memory\n", "")
    )
    path = tmp_path / "count.html"
    write_replay_file(Namespace(what=[str(tmp_path / "count.md")], output=str(path), text_size=1.0))
    document = unpacked(path.read_text("utf-8"))
    (step,) = document["steps"]
    asking, shown = (document["tracks"][step[name][0]]["says"][1] for name in ("asking", "tracks"))
    assert all("Sequential hides the race" in text for text in shown)
    assert not any("Sequential" in text for text in asking)


def test_the_warp_is_shown_where_the_lecture_shows_it(page):
    page.run("replay.openStep(1)")
    assert page.run("return document.querySelector('.side h3').textContent") == "Warp"
    assert "warp 0 of block 0" in page.text(".warp-text")
    assert page.run(
        "const c = document.querySelector('canvas.warp');"
        "return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(byte => byte > 0)"
    )


def test_a_chart_has_its_numbers_as_text(page):
    page.run("replay.openStep(2)")
    assert page.run("return document.querySelectorAll('.pane details li').length") > 4
    assert (
        page.run(
            "const c = document.querySelector('canvas.chart');"
            "return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
        )
        > 20
    )
    assert page.run("return document.querySelector('.foot').hidden") is True


def test_who_wants_calm_sees_where_a_step_stands_at_once(chromium, file):
    chromium.prefer(reduced_motion="reduce")
    chromium.open(file)
    assert chromium.run("return !replay.playing && replay.position === replay.current.stand")


def test_a_link_leads_to_a_step_and_a_moment(chromium, file):
    chromium.open(file, "#2,1")
    assert chromium.text("h2").startswith("How many?")
    assert chromium.run("return replay.position") == 1
