"""A hall in the window and in a real browser: a phone follows, votes, and sees the histogram and the answer."""

from __future__ import annotations

import csv
import socket
from contextlib import closing

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


def test_simulated_students_vote_and_the_results_are_written(window, player, open_hall, tmp_path):
    results = tmp_path / "votes.csv"
    hall = open_hall(students=12, results=results)
    wait_until(lambda: "12 phones" in seen(hall))
    assert f"http://{hall.url.removeprefix('http://')}" in seen(hall) and hall.card.code.isVisible()
    go_to_step(window, ASKS, play=True)
    wait_until(lambda: "12 votes of 12 phones" in seen(hall))
    assert not hall.card.histogram.isVisible() and not hall.card.code.isVisible()
    press(window, "V")
    assert "12 votes, closed" in seen(hall)
    votes = hall.card.histogram.accessibleDescription()
    assert votes.startswith("A  16: ") and "the answer" not in votes
    press(window, "PageDown")
    settle(window)
    assert "the answer" in hall.card.histogram.accessibleDescription()
    rows = list(csv.DictReader(results.read_text().splitlines()))
    assert sum(int(row["count"]) for row in rows) == 12 and {row["step"] for row in rows} == {"4"}
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
    rows = list(csv.DictReader((tmp_path / "votes.csv").read_text().splitlines()))
    assert sum(int(row["count"]) for row in rows) == 2 and rows[0]["answer"] == ""


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
        assert phone.run("return replay.range[1] === replay.current.begin")


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
