"""What a finding says of an access is what the picture shows at its moment, in every order of threads."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from sessions import grab_image
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.common.wording import access_text
from tilescope.app.views.inspect.race_card import relation, shown_access
from tilescope.app.views.memory.descriptions import hover_text
from tilescope.tracer.model.finding import value_text
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.model.trace import Op, is_poison
from tilescope.tracer.run.engine import run
from views import show_memory

MOST_PICTURES, SIZE = 12, (550, 450)
MOST = 60  # accesses of a finding that are looked at
SPECS = (
    "matmul-tiled:m=16,k=16,n=16,tile=8,without=barrier1",
    "matmul-tiled:m=16,k=16,n=16,tile=8,without=barrier2",
    "sum-sequential:count=128,threads=64,without=barrier2",
    "transpose-tile:rows=16,cols=16,without=barrier1",
    "count-racing:num_blocks=2,threads=64",
)


def sessions() -> list[Session]:
    seed = random.randrange(1000)
    print(f"seed {seed}")  # with which the orders come again
    sessions = []
    for order in (f"schedule=random,seed={seed}", f"schedule=random,seed={seed + 1}", "schedule=lockstep"):
        for spec in SPECS:
            scenario, values, options = parse_spec(f"{spec},{order}")
            launch = launch_of(scenario, values, **options)
            sessions.append(
                build_session(launch, run(launch, lambda done, total: None), scenario).with_findings()
            )
    return sessions


@pytest.fixture(scope="module")
def random_sessions():
    return sessions()


def shown_accesses(session: Session):
    """Yield (row, moment) of plain accesses that findings are about, before the last moment: that shows the result."""
    requests = session.requests
    for finding in session.findings:
        rows = [*finding.example, *finding.rows[:: max(1, len(finding.rows) // MOST)].tolist()]
        for row in dict.fromkeys(rows):
            moment = int(requests.moment[requests.request[row]])
            if session.trace.op[row] <= Op.STORE and moment < session.end:
                yield row, moment


def test_the_cell_the_tooltip_and_the_list_have_the_value_of_the_access(random_sessions):
    looked_at = 0
    for session in random_sessions:
        trace = session.trace
        for row, moment in shown_accesses(session):
            buffer, selection = (
                int(trace.buffer[row]),
                Selection(int(trace.block[row]), int(trace.thread[row])),
            )
            held = session.memory.values(buffer, moment, selection.block, selection.thread).ravel()
            (element,) = session.memory.element_numbers(buffer, trace.index[[row]])
            cell, tip = held[element], hover_text(session, buffer, int(element), moment, selection)
            if is_poison(np.atleast_1d(cell))[0]:
                assert tip.splitlines()[0].endswith(": not written yet")
                continue
            value = trace.value[[row]].astype(held.dtype)[0]
            where = f"{trace.kernel} {trace.schedule} row {row} moment {moment}"
            assert cell == value or (cell != cell and value != value), where
            text = value_text(trace, row)
            if text:
                assert f" = {text}" in tip.splitlines()[0] and text in access_text(session, row), where
            looked_at += 1
    assert looked_at > 100


def test_the_picture_of_an_access_is_the_same_from_the_moment_before(random_sessions):
    differing = 0
    for session in random_sessions:
        view = show_memory(session, size=SIZE)
        for row, moment in list(shown_accesses(session))[:MOST_PICTURES]:
            selection = Selection(int(session.trace.block[row]), int(session.trace.thread[row]))
            view.render_moment(float(moment - 1), selection)
            before = grab_image(view)
            view.render_moment(float(moment), selection)
            assert grab_image(view) == grab_image(show_memory(session, float(moment), selection, SIZE))
            differing += before != grab_image(view)
    assert differing > MOST_PICTURES


def test_an_access_that_ran_before_an_earlier_moment_is_explained(random_sessions):
    explained = 0
    for session in random_sessions:
        moments = session.requests.moment[session.requests.request]
        for finding in session.findings:
            if finding.kind != "race" or len(finding.example) != 2:
                continue
            first, second = sorted(finding.example)
            text = relation(session, finding)
            if "no barrier orders them" in text:
                assert ("ran before" in text) == bool(moments[first] > moments[second])
        for row, moment in shown_accesses(session):
            trace, buffer = session.trace, int(session.trace.buffer[row])
            copy = int(trace.block[row]), int(trace.thread[row])
            (element,) = session.memory.element_numbers(buffer, trace.index[[row]]).tolist()
            tip = hover_text(session, buffer, element, moment, Selection(*copy))
            shown = session.memory.values(buffer, moment, *copy).ravel()[element]
            after = session.memory.settled(buffer, moment, *copy).ravel()[element]
            if shown != after and shown == shown:
                assert re.search("this access ran (before|after) the write of moment", tip)
                explained += 1
    assert explained


def test_a_click_on_a_finding_selects_the_thread_of_its_moment(random_sessions):
    for session in random_sessions:
        for finding in session.findings:
            if not finding.example:
                continue
            moment, selection = shown_access(session, finding)
            rows = np.array(finding.example)
            own_rows = rows[session.requests.moment[session.requests.request[rows]] == moment]
            assert (selection.block, selection.thread) in {
                (int(session.trace.block[r]), int(session.trace.thread[r])) for r in own_rows
            }
