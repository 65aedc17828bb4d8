"""The presenter's window as a speaker uses it: both windows in step, pictures, answer, notes, clock, and closing."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from folders import TESTS
from patience import PATIENCE
from tilescope.app.lectures.model.clock import Clock, time_text
from windows import open_window, settle, wait_until

LECTURE = """\
# In step

## One

```tilescope
show: matmul-tiled:m=4,k=4,n=4,tile=2
at: start
```

Thread (0, 0).

> Say <b>hello</b> & wait.
>
> Then go on.

## Two

```tilescope
at: end
ask: How many sectors?
choices: {here.global_sectors + 1} | {here.global_sectors}
answer: here.global_sectors
```

## Three

`at: middle of phase 1`

## Four

`next phase`

## Five

`at: end`
"""


@pytest.fixture(scope="module")
def lecture(tmp_path_factory):
    path = tmp_path_factory.mktemp("lecture") / "lecture.md"
    path.write_text(LECTURE)
    return path


@pytest.fixture(scope="module")
def presented(lecture):
    """Return a window that presents the lecture, as the test before left it."""
    with open_window(("matmul-tiled:m=4,k=4,n=4,tile=2",)) as main_window:
        assert main_window.lectures.open(lecture)
        yield main_window
        main_window.leave()


@pytest.fixture
def window(presented):
    """Return the window at the first step, with its question unanswered."""
    presented.show()
    presented.lectures.player.go(0)
    wait_until(lambda: presented.lectures.player.awaited is None)
    return presented


@pytest.fixture
def speaker(window):
    """Return the presenter's window."""
    if window.presenting is None or not window.presenting.is_open:
        window.toggle_presenter()
    speaker_window = window.presenting.window
    speaker_window.activateWindow()
    QTest.qWaitForWindowActive(speaker_window)
    return speaker_window


def key(widget, name):
    widget.activateWindow()
    QTest.qWaitForWindowActive(widget)
    QTest.keyClick(widget, getattr(Qt.Key, f"Key_{name}"))
    QApplication.processEvents()


def shown(window, speaker):
    """Return the step that each window shows, once it is there."""
    wait_until(lambda: window.lectures.player.awaited is None)
    return window.central.caption.title.text(), speaker.title.text()


def test_keys_in_either_window_move_both(window, speaker):
    key(speaker, "PageDown")
    assert shown(window, speaker) == ("Two", "Two")
    key(window, "PageDown")  # to the answer
    key(window, "PageDown")
    assert shown(window, speaker) == ("Three", "Three")
    key(speaker, "PageUp")
    assert shown(window, speaker) == ("Two", "Two")
    speaker.list.itemClicked.emit(speaker.list.item(0))
    assert shown(window, speaker) == ("One", "One")
    key(speaker, "B")
    assert window.lectures.player.is_blank
    assert speaker.blank.isChecked()
    assert "Blank" in speaker.current.over
    key(window, "B")
    assert not speaker.blank.isChecked()


def test_the_speaker_learns_why_the_audience_sees_question_marks(window, speaker, tmp_path, lecture):
    path = tmp_path / "mistake.md"
    path.write_text(
        "# T\n\n## S\n\n`show: vector-double:count=8,threads=8`\n\nIt is {here.D.sum}.\n\n> Notes.\n"
    )
    assert window.lectures.open(path)
    wait_until(lambda: window.lectures.player.awaited is None)
    try:
        text = speaker.notes.text()
        assert "???" in text and "line 7: " in text and "Notes." in text
        assert not window.notice.isVisible()  # the audience sees no message
    finally:
        assert window.lectures.open(lecture)
        wait_until(lambda: window.lectures.player.awaited is None)
    assert "???" not in speaker.notes.text()


def test_the_speaker_reads_notes_as_they_were_written(window, speaker):
    text = speaker.notes.text()
    assert "Say &lt;b&gt;hello&lt;/b&gt; &amp; wait." in text
    assert "</p><p>Then go on." in text
    assert speaker.next_title.text() == "Next: Two"
    window.lectures.player.go(4)
    wait_until(lambda: window.lectures.player.awaited is None)
    assert "no notes" in speaker.notes.text()
    assert "ends here" in speaker.next_title.text()


def test_the_answer_is_the_speakers_before_it_is_the_audiences(window, speaker):
    key(speaker, "PageDown")
    wait_until(lambda: window.lectures.player.awaited is None)
    answer = window.lectures.player.answer().text
    assert f"B) {answer}" in speaker.answer.text()
    assert "does not see it yet" in speaker.answer.text()
    assert "the answer" in speaker.next_button.text()
    assert not window.lectures.player.is_revealed
    speaker.reveal.click()
    assert window.lectures.player.is_revealed
    assert "does not" not in speaker.answer.text()
    assert not speaker.reveal.isEnabled()


def wait_for_copy(window, speaker):
    """Wait until the speaker sees the audience's picture."""
    wait_until(
        lambda: speaker.current.image == window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    )


def test_the_speaker_sees_what_the_audience_sees(window, speaker):
    wait_for_copy(window, speaker)
    first = speaker.current.image
    key(speaker, "PageDown")
    assert shown(window, speaker) == ("Two", "Two")
    wait_for_copy(window, speaker)
    asked = speaker.current.image
    assert asked != first
    speaker.reveal.click()
    wait_for_copy(window, speaker)
    assert speaker.current.image != asked
    key(window, "Home")
    wait_until(lambda: window.playhead.moment == 0)
    wait_for_copy(window, speaker)
    assert speaker.current.image != asked
    key(window, "Space")
    wait_until(lambda: window.playhead.moment > 3)
    key(window, "Space")
    wait_for_copy(window, speaker)


def test_the_next_step_is_drawn_and_follows(window, speaker):
    pictures = speaker.thumbnails
    wait_until(lambda: pictures.picture_of(1) is not None)
    assert speaker.next.image == pictures.picture_of(1)
    key(speaker, "PageDown")
    assert shown(window, speaker) == ("Two", "Two")
    wait_until(lambda: pictures.picture_of(2) is not None)
    assert speaker.next.image == pictures.picture_of(2) != pictures.picture_of(1)
    key(speaker, "PageUp")
    before = pictures.picture_of(1)
    window.look.toggle()
    wait_until(lambda: pictures.picture_of(1) is not None)
    assert pictures.picture_of(1) != before


def test_drawing_for_the_speaker_changes_nothing_for_the_audience(window, speaker):
    settle(window)
    before, bookmark = window.grab().toImage(), window.bookmark()
    wait_until(lambda: speaker.thumbnails.picture_of(1) is not None)
    assert window.bookmark() == bookmark
    assert window.grab().toImage() == before


def test_closing_the_presenters_window_ends_nothing(window, speaker):
    key(speaker, "PageDown")
    speaker.close()
    assert window.isVisible()
    key(window, "PageDown")
    assert window.lectures.player.is_revealed
    window.toggle_presenter()
    assert speaker.isVisible()
    assert speaker.title.text() == "Two"


def test_closing_the_audiences_window_ends_nothing_while_the_speaker_goes_on(window, speaker):
    window.close()
    assert not window.isVisible()
    assert "Show" in speaker.audience.text()
    key(speaker, "PageDown")
    assert window.lectures.player.number == 1
    speaker.audience.click()
    assert window.isVisible()
    assert shown(window, speaker) == ("Two", "Two")


def test_one_key_goes_from_one_window_to_the_other_on_one_screen(window, speaker):
    key(speaker, "F7")
    wait_until(window.isActiveWindow)
    key(window, "F7")
    wait_until(speaker.isActiveWindow)


def test_without_a_lecture_the_speaker_has_nothing_to_see_and_loses_nothing():
    with open_window(("matmul-tiled:m=4,k=4,n=4,tile=2",)) as main_window:
        main_window.toggle_presenter()
        QApplication.processEvents()
        assert main_window.lectures.player.prepared_step(0) is None
        speaker = main_window.presenting.window
        assert not any(button.isEnabled() for button in (*speaker.buttons, speaker.stop, speaker.reset))
        assert not speaker.gone.text()
        main_window.leave()


def test_the_clock_stops_goes_on_and_starts_anew():
    now = [100.0]
    clock = Clock(lambda: now[0])
    now[0] = 165
    assert time_text(clock.seconds()) == "1:05"
    clock.toggle()
    now[0] = 1000
    assert clock.seconds() == 65
    clock.toggle()
    now[0] = 1010
    assert clock.seconds() == 75
    clock.restart()
    assert (clock.seconds(), clock.is_running) == (0, True)
    assert time_text(3725) == "1:02:05"


def test_the_buttons_of_the_clock(window, speaker):
    clock = window.lectures.player.clock
    speaker.stop.click()
    assert not clock.is_running
    speaker.reset.click()
    assert clock.is_running
    assert speaker.gone.text() == "0:00"


SCREENS = [
    {"name": name, "x": x, "y": 0, "width": width, "height": height, "logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    for name, x, width, height in (("laptop", 0, 1280, 800), ("projector", 1280, 1920, 1080))
]  # fmt: skip


@pytest.fixture
def two_screens(tmp_path):
    """Yield the environment of a process that has two screens: those of an X server, or without one Qt's own."""
    server = shutil.which("Xvfb")
    if server is None:
        path = tmp_path / "screens.json"
        path.write_text(json.dumps({"screens": SCREENS}))
        yield {"QT_QPA_PLATFORM": f"offscreen:configfile={path}"}
        return
    read, write = os.pipe()
    sizes = ["-screen", "0", "1280x800x24", "-screen", "1", "1920x1080x24"]
    command = [server, "-displayfd", str(write), *sizes, "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as stream:
        number = stream.readline().strip()
    yield {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
    process.terminate()
    process.wait(PATIENCE)


def test_on_two_screens_page_down_presents_and_each_window_fills_its_own(two_screens, lecture, tmp_path):
    paths = os.pathsep.join([str(TESTS / "helpers"), os.environ.get("PYTHONPATH", "")])
    own = {"TILESCOPE_HOME": str(tmp_path), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, str(TESTS / "helpers/two_screens.py"), str(lecture)],
        env=os.environ | own | two_screens, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert "failed" not in seen, seen["failed"]
    assert (seen["screens"], seen["speaker"], seen["audience"]) == (2, 0, 1)
    assert seen["audience is full"]
    assert seen["steps"] == [[1, "Two", "Two"], [1, "Two", "Two"], [2, "Three", "Three"]]
    assert seen["drawn"]
    assert seen["swapped"] == [1, 0]
    assert seen["goes on without the audience's window"]
    assert (seen["after it"], seen["status"]) == (3, 0)
