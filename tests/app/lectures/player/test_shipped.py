"""The shipped lectures in the window: the same pictures forwards and backwards, and a caption with every number."""

from __future__ import annotations

from pathlib import Path

import pytest

from presenting import capture_window, present, wait_for_step
from tilescope.app.control import seed_jobs
from tilescope.app.lectures.model.captions import UNKNOWN
from tilescope.app.lectures.model.library import lecture_name, shipped_lectures
from windows import wait_until


@pytest.mark.parametrize("path", shipped_lectures(), ids=lecture_name)
def test_a_shipped_lecture_shows_the_same_forwards_and_backwards(window, path: Path, monkeypatch):
    monkeypatch.setattr(seed_jobs, "seeds_for", lambda trace: 2)  # schedules of a racing counter
    window.central.results.types.soon.setInterval(0)
    window.resize(720, 450)
    player = present(window, path)
    count = len(player.lecture.steps)
    forwards = []
    for number in range(count):
        player.go(number)
        wait_for_step(window)
        assert not player.obstacle, player.obstacle
        assert UNKNOWN not in player.caption().text and not player.caption().problems
        player.reveal()
        player.show_final_moment()
        for pane in window.central.panes if player.caption().foot else ():  # it has numbers
            counted = [t for t in pane.counters.tiles if t.label in pane.counters.highlighted]
            for text in (tile.text(int(player.moment().stand)) for tile in counted):
                assert text in player.caption().text, (player.step.title, text)
        wait_until(window.central.results.types.is_idle)  # what Numba's compiler says of the kernels
        forwards.append(capture_window(window))
    for number in reversed(range(count - 1)):
        player.previous()
        wait_for_step(window)
        assert player.number == number
        mark, picture = capture_window(window)
        assert (mark, picture == forwards[number][1]) == (forwards[number][0], True), player.step.title
    player.close()
    wait_for_step(window)
