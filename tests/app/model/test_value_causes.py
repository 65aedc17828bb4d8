"""What the sentences of a path say of a moment before a write, and of a pane that is right."""

from __future__ import annotations

import msgspec
import pytest

from sessions import matmul
from tilescope.app.model.session import build_session, scenario_of
from tilescope.app.model.value_causes import element_named, explain, first_wrong_element
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.simulator.numba_patch import run as run_simulated

SIZES = {"m": 16, "k": 16, "n": 16, "tile": 8}


@pytest.fixture(scope="module")
def wrong():
    """Return a product with a lost barrier in an order that makes it wrong."""
    sessions = (ordered(Schedule("random", seed=seed)) for seed in range(20))
    return next(session for session in sessions if first_wrong_element(session) is not None)


def ordered(schedule):
    """Return the product in another order of threads."""
    launch = msgspec.structs.replace(launch_of(find("matmul-tiled-one-barrier"), SIZES), schedule=schedule)
    trace = run_simulated(launch, lambda done, total: None)
    return build_session(launch, trace, scenario_of(launch))


def test_an_element_that_is_written_later_is_not_called_unwritten():
    session = matmul("matmul-tiled", **SIZES)
    element = element_named(session, "C[3, 5]")
    (early,) = explain(session, element, 3).sentences
    assert early.text.startswith("C[3, 5]: not written yet")
    assert "Thread (5, 3) of block (0, 0) writes it on line" in early.text
    assert session.requests.moment[session.requests.request[early.row]] > 3


def test_a_reference_is_not_mentioned_for_an_element_without_a_write(wrong):
    session = matmul("matmul-tiled-one-barrier", **SIZES)
    (early,) = explain(session, element_named(session, "C[3, 5]"), 3, wrong).sentences
    assert "Every write" not in early.text


def test_only_the_pane_that_is_wrong_goes_wrong(wrong):
    right, element = matmul("matmul-tiled-one-barrier", **SIZES), first_wrong_element(wrong)
    assert first_wrong_element(right) is None
    of_right = explain(right, element, None, wrong).sentences[0].text
    of_wrong = explain(wrong, element, None, right).sentences[0].text
    assert "differs from here on" in of_right and "goes wrong" not in of_right
    assert "goes wrong here" in of_wrong
