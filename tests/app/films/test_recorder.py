"""The process that records for the window, run in this one: what it shows, what it may run, what it answers."""

import queue

import pytest

from tilescope.app.films.model.messages import Ask, Failed, Preview, Show, Stop, Write
from tilescope.app.films.model.wanted import FilmOptions
from tilescope.app.model.bookmark import Bookmark, Room, Setup
from tilescope.app.window.film_renderer import FilmRenderer
from tilescope.app.window.start import application
from tilescope.tracer.model.plan import kernel_source

KERNEL = "tilescope.kernels.matmul:tiled"
OWN = kernel_source(KERNEL)[1]
TEXT = OWN.replace("total = DTYPE(0)", "total = DTYPE(700)")
EDITED = Setup("matmul-tiled", {"m": 4, "k": 4, "n": 4, "tile": 2}, source=TEXT)
SMALL = FilmOptions(size=(640, 400))


def answers(show, *messages):
    """Return the texts of the kernels that ran, and what is answered to messages that came all at once."""
    application()
    waiting, reports = queue.Queue(), []
    for message in (*messages, None):
        waiting.put(message)
    recorder = FilmRenderer(show, waiting, reports.append)
    ran = [session.launch.source for session in recorder._window.stage.sessions]
    recorder.run()
    return ran, reports


def ask(number, **wanted):
    return Ask(number, FilmOptions(size=(640, 400), **wanted), "a.gif", 1.0, 640)


@pytest.mark.parametrize(("trusted", "text"), [(((KERNEL, TEXT),), TEXT), ((), OWN)])
def test_a_text_runs_where_it_ran_in_the_window_and_nowhere_else(trusted, text):
    assert answers(Show(Bookmark((EDITED,)), trusted, 1.0))[0] == [text]


def test_frames_follow_the_caption_the_part_and_the_room():
    caption, room = ("Seven", "Much <b>more</b>", "below"), Room(columns=(500, 140), bar=False)
    show = Show(Bookmark((EDITED,), side="shown"), (), 1.0, room, caption)
    asked = ({}, {"captions": True}, {"part": "memory"}, {"theme": "dark"}, {}, {"begin": "phase 99"})
    _, reports = answers(show, *(ask(i, **wanted) for i, wanted in enumerate(asked)))
    assert reports[-1] == Failed("There is no phase 99: block 0 has 5, counted from 0.", 5)
    previews = [answer for answer in reports if isinstance(answer, Preview)]
    assert [preview.number for preview in previews] == [0, 1, 2, 3, 4]
    assert len({preview.png for preview in previews}) == 4
    assert previews[0].png == previews[4].png  # whatever was shown between


def test_what_comes_while_it_records_ends_that_and_leaves_no_file(tmp_path):
    _, reports = answers(Show(Bookmark((EDITED,)), (), 1.0), Write(SMALL, str(tmp_path / "a.gif")), Stop())
    assert reports == [Failed("")]
    assert list(tmp_path.iterdir()) == []
