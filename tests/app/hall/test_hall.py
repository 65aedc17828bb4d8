"""A hall in the window and in a real browser: a phone follows, votes, and sees the histogram and the answer."""

from __future__ import annotations

import csv
import os
import signal
import socket
from contextlib import closing
from pathlib import Path

import pytest

from browser import needs_chromium, open_browser
from presenting import NAIVE, TILED, go_to_step, present, wait_for_step, write_lecture
from tilescope.app.hall.hall import Hall, HallOptions
from windows import press, settle, wait_until

ASKS, NUMBER = 3, 4
MARKED = f"""# Marks

## Where are the sums?

```tilescope
show: {NAIVE} {TILED}
focus: left
ask: Which line adds?
answer: line "+="
```

## How many reads?

```tilescope
ask: How often is A read?
choices: naive | tiled
answer: left.A.reads | right.A.reads
```
"""
FREE = 0  # the system chooses a port


@pytest.fixture
def player(window, tmp_path):
    player = present(window, write_lecture(tmp_path))
    yield player
    player.close()
    wait_for_step(window)


@pytest.fixture
def open_hall(window, player):
    halls = []

    def start(**options) -> Hall:
        halls.append(Hall(window.lectures, HallOptions(**{"port": FREE} | options)))
        return halls[-1]

    yield start
    for hall in halls:
        hall.close()  # again, where a test has closed it


def seen(hall: Hall) -> str:
    """Return the text of the hall's card."""
    card = hall.card
    return " ".join(label.text() for label in (card.address, card.count, card.hint) if label.isVisible())


def rows_of(results: Path) -> list[dict[str, str]]:
    """Return the rows of a file with results, none if it does not exist yet."""
    return list(csv.DictReader(results.read_text().splitlines())) if results.exists() else []


def counted(results: Path) -> int:
    """Return the number of votes in a file with results."""
    return sum(int(row["count"]) for row in rows_of(results))


def children_with(module: str) -> list[int]:
    """Return the processes of this one that run a module."""
    own = f"PPid:\t{os.getpid()}\n"
    folders = [path for path in Path("/proc").iterdir() if path.name.isdecimal()]
    return [
        int(folder.name)
        for folder in folders
        if own in (folder / "status").read_text() and module in (folder / "cmdline").read_text().split("\0")
    ]


def test_simulated_students_vote_and_the_results_are_written(window, player, open_hall, tmp_path):
    results = tmp_path / "votes.csv"
    hall = open_hall(students=12, results=results)
    wait_until(lambda: "12 phones" in seen(hall))
    assert f"http://{hall.url.removeprefix('http://')}" in seen(hall) and hall.card.code.isVisible()
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: "12 votes of 12 phones" in seen(hall))
    assert not hall.card.histogram.isVisible() and not hall.card.code.isVisible()
    wait_until(lambda: counted(results) == 12)  # while the vote is open
    press(window, "V")
    assert "12 votes, closed" in seen(hall)
    votes = hall.card.histogram.accessibleDescription()
    assert votes.startswith("A  16: ") and "the answer" not in votes
    press(window, "PageDown")
    settle(window)
    assert "the answer" in hall.card.histogram.accessibleDescription()
    wait_until(lambda: {row["answer"] for row in rows_of(results)} == {player.answer().text})
    assert counted(results) == 12 and {row["step"] for row in rows_of(results)} == {"4"}
    go_to_step(window, NUMBER, play=True)
    wait_until(lambda: "12 votes of 12 phones" in seen(hall))
    go_to_step(window, ASKS)
    assert "12 votes, closed" in seen(hall)


def test_the_speaker_sees_the_votes_and_closes_them(window, player, open_hall):
    window.toggle_presenter()
    presenter = window.presenting.window
    hall = open_hall(students=3)
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: presenter.votes.text() == "3 votes of 3 phones")
    assert presenter.votes.isVisible() and presenter.close_vote.isVisible()
    presenter.close_vote.click()
    wait_until(lambda: "3 votes, closed" in seen(hall))
    assert not presenter.votes.isVisible() and not presenter.close_vote.isVisible()
    presenter.close()


def test_votes_of_an_open_question_are_written_at_the_end(window, player, open_hall, tmp_path):
    hall = open_hall(students=2, results=tmp_path / "votes.csv")
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: "2 votes of 2 phones" in seen(hall))
    hall.close()
    assert counted(tmp_path / "votes.csv") == 2 and rows_of(tmp_path / "votes.csv")[0]["answer"] == ""


def test_results_that_can_not_be_written_are_reported(window, player, open_hall, tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    hall = open_hall(students=2, results=folder / "votes.csv")
    folder.rmdir()
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: bool(window.notice.sentences()))
    assert window.notice.sentences()[0].startswith(f"{folder / 'votes.csv'} can't be written: ")
    wait_until(lambda: "2 votes of 2 phones" in seen(hall))


def test_a_taken_port_leaves_the_lecture_without_a_hall(window, player, open_hall):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        open_hall(port=port)
        wait_until(lambda: bool(window.notice.sentences()))
    (sentence,) = window.notice.sentences()
    assert sentence.startswith(f"Port {port} can't be used") and "continues without the hall" in sentence
    press(window, "PageDown")
    wait_for_step(window)
    assert player.number == 1


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ("tilescope.app.hall.hall.own_address", "This computer is in no network"),
        ("missing", "A hall needs more packages"),
    ],
)
def test_a_hall_that_can_not_start_shows_the_reason(window, player, open_hall, monkeypatch, patch, sentence):
    if patch == "missing":
        monkeypatch.setitem(__import__("sys").modules, "segno", None)
    else:
        monkeypatch.setattr(patch, lambda: "")
    hall = open_hall()
    assert window.notice.sentences()[0].startswith(sentence)
    assert not hall.card.isVisible() and player.lecture is not None


def test_a_hint_names_the_firewall_once_no_phone_has_come_for_a_while(window, player, open_hall, monkeypatch):
    hall = open_hall()
    wait_until(lambda: "Scan the code" in seen(hall))
    hall.close()
    monkeypatch.setattr("tilescope.app.hall.hall.PATIENCE", 0)
    blocked = open_hall()
    wait_until(lambda: "No phone has connected. Allow Python in the firewall" in seen(blocked))
    blocked.close()
    reached = open_hall(students=1)
    wait_until(lambda: "1 phone" in seen(reached))
    assert "Scan the code" in seen(reached)


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the server's process in /proc")
def test_a_server_that_ends_leaves_the_lecture_and_the_votes(window, player, open_hall, tmp_path):
    results = tmp_path / "votes.csv"
    hall = open_hall(students=2, results=results)
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: "2 votes of 2 phones" in seen(hall) and counted(results) == 2)
    (server,) = children_with("tilescope.app.hall.server")
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: bool(window.notice.sentences()))
    (sentence,) = window.notice.sentences()
    assert (
        sentence.startswith("The hall's server ended unexpectedly")
        and "continues without the hall" in sentence
    )
    press(window, "PageDown")
    wait_for_step(window)
    assert player.is_revealed and not hall.card.isVisible() and counted(results) == 2


def test_a_public_address_is_refused(window, player, open_hall):
    open_hall(address="8.8.8.8")
    assert "is not in a private network" in window.notice.sentences()[0]


@needs_chromium
def test_a_phone_follows_votes_and_sees_the_answer(window, player, open_hall):
    hall = open_hall()
    wait_until(lambda: bool(hall.url))
    with open_browser() as phone:
        phone.size(390, 844, phone=True)
        phone.driver.get(f"http://127.0.0.1:{hall.report.port}/")

        def shows(script: str) -> None:
            wait_until(lambda: phone.run(f"return {script}"))

        shows("document.querySelector('h1').textContent === 'Both side by side'")
        shows("document.querySelector('.replay iframe') !== null")
        wait_until(lambda: "1 phone connected" in seen(hall))
        go_to_step(window, ASKS, play=True)
        shows("document.querySelectorAll('.choices button').length === 3")
        phone.run("document.querySelectorAll('.choices button')[1].click()")
        wait_until(lambda: "1 vote of 1 phone" in seen(hall))
        shows("document.querySelector('[aria-pressed=true]').textContent.startsWith('B')")
        phone.driver.refresh()
        shows("document.querySelector('[aria-pressed=true]')?.textContent.startsWith('B')")
        press(window, "V")
        shows("document.querySelectorAll('.histogram li').length === 3")
        assert "right" not in phone.run("return document.querySelector('.histogram').innerHTML")
        press(window, "PageDown")
        shows("document.querySelector('.histogram .right')?.textContent.includes('✓')")
        assert phone.text(".answer") == f"Answer: {player.answer().text}"
        assert phone.text(".note").startswith("Your vote: B")
        go_to_step(window, NUMBER, play=True)
        shows("document.querySelector('form input') !== null")
        for text, number in (("16", 16), ("1,024", 1024), ("0,5", 0.5)):
            phone.run("document.querySelector('form input').value = arguments[0]", text)
            phone.run("document.querySelector('form button').click()")
            wait_until(lambda number=number: hall.report.votes == (number,))
        assert phone.console_messages() == []
        own = f"http://127.0.0.1:{hall.report.port}/"
        assert all(url.startswith((own, "data:")) for url in phone.requests())
        shows("document.querySelector('.replay iframe') !== null")
        page = phone.run("return document.querySelector('.replay iframe').src")
        phone.driver.get(page)
        phone.wait("return !!window.replay")
        assert "Answer" not in phone.run("return document.body.innerText")
        assert phone.run("return document.querySelector('.lesson') === null")
        assert phone.run("return replay.range[1] === replay.current.begin")


PROGRAM = """
import numpy as np
from numba import cuda

@cuda.jit
def copy(a, out):
    i = cuda.grid(1)
    out[i] = a[i]

copy[2, 8](np.arange(16, dtype=np.float32), np.zeros(16, np.float32))
"""
OWN = f"""# Own

## Ours

`show: {NAIVE}`

## Mine

```tilescope
show: mine.py
ask: How many threads run in {{here.blocks}} blocks?
answer: here.threads_in_all
```
"""


@needs_chromium
def test_phones_show_a_program_once_the_lecturer_agrees(window, tmp_path, open_hall):
    (tmp_path / "mine.py").write_text(PROGRAM)
    player = present(window, write_lecture(tmp_path, OWN))
    hall = open_hall()
    wait_until(lambda: bool(hall.url))
    with open_browser() as phone:
        phone.driver.get(f"http://127.0.0.1:{hall.report.port}/")

        def shows(script: str) -> None:
            wait_until(lambda: phone.run(f"return {script}"))

        def frame() -> str:
            return phone.run("return document.querySelector('.replay iframe')?.src || ''")

        go_to_step(window, 1, play=True)
        shows("document.querySelector('h1').textContent === 'Mine'")
        wait_until(lambda: bool(frame()))
        before = frame()
        assert phone.run("return document.querySelector('.card').hidden")
        window.lectures.cover.answer.click()
        shows("document.querySelector('h2')?.textContent === 'How many threads run in 2 blocks?'")
        wait_until(lambda: frame() not in ("", before))
        phone.driver.switch_to.frame(phone.driver.find_element("css selector", "iframe"))
        phone.wait("return !!window.replay")
        assert phone.run("return document.querySelectorAll('canvas').length > 0")
        assert "copy" in phone.text("body")
    player.close()
    wait_for_step(window)


@needs_chromium
def test_phones_mark_a_line_and_drag_bars(window, tmp_path, open_hall):
    player = present(window, write_lecture(tmp_path, MARKED))
    hall = open_hall()
    wait_until(lambda: bool(hall.url))
    with open_browser() as phone:
        phone.driver.get(f"http://127.0.0.1:{hall.report.port}/")

        def shows(script: str) -> None:
            wait_until(lambda: phone.run(f"return {script}"))

        shows("document.querySelectorAll('.lines button').length > 4")
        line = player.answer().values[0]
        phone.run(f"document.querySelector('[data-vote=\"{line}\"]').click()")
        wait_until(lambda: "1 vote of 1 phone" in seen(hall))
        press(window, "PageDown")
        settle(window)
        assert hall.card.histogram.accessibleDescription().endswith(": 1, the answer")
        shows("document.querySelector('.histogram .right') !== null")
        go_to_step(window, 1, play=True)
        shows("document.querySelectorAll('input[type=range]').length === 2")
        phone.run(
            "const [first, second] = document.querySelectorAll('input[type=range]');"
            "first.value = 80; second.value = 20; document.querySelector('.card .primary').click()"
        )
        wait_until(lambda: "1 vote of 1 phone" in seen(hall))
        press(window, "PageDown")
        settle(window)
        assert hall.card.histogram.accessibleDescription().startswith(
            "naive: 100, the answer is 100; tiled: 25"
        )
        shows("document.querySelectorAll('.histogram .target').length === 2")
        assert phone.text(".note") == "Your vote: naive 80, tiled 20"
        assert phone.console_messages() == []
    player.close()
    wait_for_step(window)
