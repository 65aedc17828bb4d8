"""Votes: what counts as one, one for each phone, histograms, and results without phones."""

from __future__ import annotations

import csv
import io

import pytest

from tilescope.app.hall.model.ballot import Ballot, parse_vote
from tilescope.app.hall.model.histogram import Solution, rows_of
from tilescope.app.hall.model.limits import RateLimit
from tilescope.app.hall.model.messages import HallQuestion
from tilescope.app.hall.model.network import is_private
from tilescope.app.hall.model.results import Result, csv_text

CHOOSE = HallQuestion(0, "choose", "How many?", ("16", "=1+1", "none"))
NUMBER = HallQuestion(1, "number", "How many?")
LINE = HallQuestion(2, "line", "Which line?", lines=((7, "for k in range(n):"), (8, "    s += a[k]")))
BARS = HallQuestion(3, "bars", "Compare the reads.", bars=("naive", "tiled"))


@pytest.mark.parametrize(
    ("question", "value", "vote"),
    [
        (CHOOSE, 2, 2), (CHOOSE, 3, None), (CHOOSE, -1, None), (CHOOSE, True, None), (CHOOSE, 1.0, None),
        (CHOOSE, "1", None), (NUMBER, 64, 64), (NUMBER, -0.5, -0.5), (NUMBER, 1e300, None),
        (NUMBER, float("nan"), None),
        (NUMBER, [1], None), (LINE, 8, 8), (LINE, 9, None), (BARS, [100, 25], (100.0, 25.0)), (BARS, [100], None),
        (BARS, [101, 0], None), (BARS, [-1, 0], None), (BARS, 5, None), (BARS, [True, 1], None),
    ],
)  # fmt: skip
def test_a_vote_suits_its_question_or_is_none(question, value, vote):
    assert parse_vote(question, value) == vote


def test_the_last_vote_of_a_phone_counts_once():
    ballot = Ballot()
    for phone, vote in (("a", 0), ("b", 1), ("a", 2)):
        ballot.cast(0, phone, vote)
    assert ballot.votes(0) == (2, 1) and ballot.votes(1) == ()
    assert ballot.vote_of(0, "a") == 2 and ballot.vote_of(0, "c") is None


def test_choices_are_counted_and_the_right_one_marked_with_the_answer():
    rows = rows_of(CHOOSE, (0, 0, 2), None)
    assert [(row.label, row.text, row.share) for row in rows] == [
        ("A  16", "2", 1.0),
        ("B  =1+1", "0", 0.0),
        ("C  none", "1", 0.5),
    ]
    assert not any(row.is_right for row in rows)
    rows = rows_of(CHOOSE, (0, 0, 2), Solution("none", (2,)))
    assert [row.is_right for row in rows] == [False, False, True]


def test_frequent_numbers_have_rows_in_order_and_the_answer_has_one():
    votes = (*[64] * 5, *[16] * 3, *range(1000, 1020))
    rows = rows_of(NUMBER, votes, Solution("32", (32.0,)))
    assert [row.label for row in rows][:3] == ["16", "32", "64"]
    assert [row.is_right for row in rows][:3] == [False, True, False]
    assert rows[-1].label == "others"
    assert sum(int(row.text) for row in rows) == len(votes)


def test_lines_have_their_text():
    (row,) = rows_of(LINE, (8, 8), Solution("line 8", (8,)))
    assert (row.label, row.text, row.is_right) == ("8  s += a[k]", "2", True)


def test_bars_are_medians_relative_to_the_longest():
    votes = ((50.0, 25.0), (100.0, 100.0), (80.0, 0.0))
    naive, tiled = rows_of(BARS, votes, Solution("64, 4", (64.0, 4.0)))
    assert (naive.share, naive.text, naive.target) == (1.0, "100", 1.0)
    assert (tiled.share, tiled.text, tiled.target) == (0.5, "50", 4 / 64)
    assert rows_of(BARS, (), None)[0].share == 0.0


def test_results_have_a_row_for_each_different_vote_and_no_formula():
    results = [
        Result(4, "A step", CHOOSE, (1, 1, 0), "=1+1"),
        Result(5, "Another", BARS, ((100.0, 5.0),), ""),
    ]
    rows = list(csv.DictReader(io.StringIO(csv_text(results))))
    assert [(row["step"], row["vote"], row["count"]) for row in rows] == [
        ("4", "16", "1"),
        ("4", "'=1+1", "2"),
        ("5", "naive 100 | tiled 5", "1"),
    ]


def test_a_rate_allows_a_burst_and_then_its_rate():
    limit = RateLimit(2.0, 3.0)
    assert [limit.allows("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert limit.allows("b", 0.0)
    assert [limit.allows("a", 0.5) for _ in range(2)] == [True, False]


def test_only_private_networks_are_private():
    assert all(map(is_private, ("127.0.0.1", "10.1.2.3", "172.16.0.9", "192.168.1.5", "169.254.3.4", "::1")))
    assert not any(map(is_private, ("8.8.8.8", "141.1.1.1", "", "localhost", "2001:4860:4860::8888")))
