"""What a finding says of an access is what the picture shows at its moment, in every order of threads."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.common.wording import access_text
from tilescope.app.views.inspect.race_card import shown_access
from tilescope.app.views.memory.descriptions import hover_text
from tilescope.tracer.model.finding import value_text
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.model.trace import Op, is_poison
from tilescope.tracer.run.engine import run

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
    made = []
    for order in (f"schedule=random,seed={seed}", f"schedule=random,seed={seed + 1}", "schedule=lockstep"):
        for spec in SPECS:
            scenario, values, options = parse_spec(f"{spec},{order}")
            launch = launch_of(scenario, values, **options)
            made.append(build_session(launch, run(launch, lambda done, of: None), scenario).with_findings())
    return made


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
            told = value_text(trace, row)
            if told:
                assert f" = {told}" in tip.splitlines()[0] and told in access_text(session, row), where
            looked_at += 1
    assert looked_at > 100


def test_a_click_on_a_finding_selects_the_thread_of_its_moment(random_sessions):
    for session in random_sessions:
        for finding in session.findings:
            if not finding.example:
                continue
            moment, selection = shown_access(session, finding)
            rows = np.array(finding.example)
            mine = rows[session.requests.moment[session.requests.request[rows]] == moment]
            assert (selection.block, selection.thread) in {
                (int(session.trace.block[r]), int(session.trace.thread[r])) for r in mine
            }
