"""The lectures that come with Tilescope: every number, answer, place and name in them is there."""

from __future__ import annotations

from typing import get_args

import pytest

from tilescope.app.lectures.model.check import check_lecture
from tilescope.app.lectures.model.document import read_lecture
from tilescope.app.lectures.model.library import (
    TOUR,
    lecture_file,
    lecture_name,
    lecture_title,
    shipped_lectures,
)
from tilescope.app.lectures.model.questions import Kind
from tilescope.app.lectures.model.sessions import Sessions
from tilescope.tracer.run.worker_client import Worker

NAMES = (
    "tiling",
    "sectors",
    "banks",
    "order",
    "counting",
    "python-to-gpu",
    "ladder",
    "compiler",
    "cuda-cpp",
    "why",
    "first",
)


@pytest.fixture(scope="module")
def sessions():
    worker = Worker()
    yield Sessions(worker, None)
    worker.close()


def test_there_are_eleven_in_the_order_in_which_they_are_taught():
    assert tuple(map(lecture_name, shipped_lectures())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_lecture_has_no_mistakes(name, sessions):
    lecture = read_lecture(lecture_file(name))
    assert check_lecture(lecture, sessions.session_of) == ()
    assert lecture.title == lecture_title(lecture.path)
    assert 10 <= len(lecture.steps) <= 16
    assert sum(step.change.question is not None for step in lecture.steps) >= 2
    assert all(step.caption for step in lecture.steps)
    assert any(step.notes for step in lecture.steps)


def test_a_shipped_lecture_asks_every_kind_of_question():
    questions = [step.change.question for step in read_lecture(lecture_file("sectors")).steps]
    assert {question.kind for question in questions if question} == set(get_args(Kind))


def test_the_tour_has_five_steps_without_mistakes(sessions):
    tour = read_lecture(lecture_file("tour"))
    assert tour.path == TOUR
    assert check_lecture(tour, sessions.session_of) == ()
    assert len(tour.steps) == 5
    assert all(step.caption for step in tour.steps)
