"""The path of a value in the page of a lecture: drawn in the pictures, and sentences that lead to their moments."""

from argparse import Namespace

import pytest

from browser import needs_chromium, open_browser
from tilescope.app.cli.pictures.replay_file import write_replay_file

pytestmark = needs_chromium
LECTURE = """# Path

## Plain

```tilescope
show: matmul-tiled:m=4,k=4,n=4,tile=2
at: moment 21
panel: why
```

Text.

## With a path

`trace back: C[1, 1]`

Text.
"""
PICTURE = "const c = document.querySelector('.pane canvas'); return c.toDataURL()"

TIMELINE = "const c = document.querySelector('.timeline canvas'); return c.toDataURL()"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("path")
    (folder / "path.md").write_text(LECTURE, "utf-8")
    written = folder / "replay.html"
    write_replay_file(Namespace(what=[str(folder / "path.md")], output=str(written), text_size=1.0))
    with open_browser() as browser:
        browser.open(written)
        yield browser


def test_step_shows_the_path_and_its_sentences_lead_to_moments(page):
    page.run("replay.openStep(0)")
    plain, plain_timeline = page.run(PICTURE), page.run(TIMELINE)
    assert page.run("return document.querySelector('.path')") is None
    page.run("replay.openStep(1)")
    assert page.run("return replay.position") == 21
    assert page.run("return document.querySelector('.side h3').textContent") == "Why C[1, 1]?"
    assert "wrote C[1, 1]" in page.text(".path")
    assert page.run(PICTURE) != plain
    assert page.run(TIMELINE) != plain_timeline
    marks = page.run("return replay.timelines[0].timeline.marks")
    moments = page.run("return replay.current.paths[0].sentences.map(s => s[1]).filter(m => m > 0)")
    assert list(marks) == ["0"]  # the block that writes C[1, 1]
    assert {moment for _, moment, _ in marks["0"]} >= set(moments)
    assert not any(has_fault for _, _, has_fault in marks["0"])
    page.run("[...document.querySelectorAll('.path button')].find(b => b.textContent === 'moment 7').click()")
    assert page.run("return replay.position") == 7
    assert page.console_messages() == []


ORDER = """# Order

## Who ran when

```tilescope
show: count-racing:num_blocks=1,threads=4,schedule=order:t1x2+t3x1
at: moment 4
```

Text.

## In step

`show: count-racing:num_blocks=1,threads=4,schedule=order:all/0`

Text.
"""


def test_timelines_of_a_page_mark_who_an_order_chose(tmp_path):
    (tmp_path / "order.md").write_text(ORDER, "utf-8")
    written = tmp_path / "replay.html"
    write_replay_file(Namespace(what=[str(tmp_path / "order.md")], output=str(written), text_size=1.0))
    with open_browser() as browser:
        browser.open(written)
        browser.run("replay.openStep(0)")
        marked = browser.run(TIMELINE)
        spans = browser.run("return replay.timelines[0].timeline.block.order")
        assert spans == [[0, 1, 2, "t1"], [0, 3, 3, "t3"]]
        browser.run("replay.openStep(1)")
        assert browser.run("return replay.timelines[0].timeline.block.order") == []
        assert browser.run(TIMELINE) != marked
        assert browser.console_messages() == []
