"""A GPU's recorded order in the window: offered where it was recorded, marked as measured, else refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from noted_on_host import notes_on_host
from tilescope.tracer.hardware.accesses.measured_trace import measured_run
from tilescope.tracer.model.plan import launch_of, parse_spec
from tilescope.tracer.storage.recorded_traces import file_name, own_folder
from tilescope.tracer.storage.trace_file import save
from windows import enter, open_window, settle, wait_until

SPEC = "count-racing:num_blocks=2,threads=8"
CHOICES = ["lockstep", "sequential", "random"]


@pytest.fixture
def recording():
    """Put a recording of a small counter where this computer's are, and return its path."""
    scenario, values, options = parse_spec(SPEC)
    launched = launch_of(scenario, values, **options)
    own_folder().mkdir(parents=True, exist_ok=True)
    path = own_folder() / file_name(launched)
    save(measured_run(notes_on_host(launched, 1)).trace, path)
    yield path
    path.unlink()


def offered(window) -> list[str]:
    """List the entries of the list of schedules."""
    return [window.toolbar.schedule.itemText(i) for i in range(window.toolbar.schedule.count())]


def test_a_recorded_order_is_offered_for_exactly_what_was_recorded(recording: Path) -> None:
    with open_window((SPEC,)) as window:
        assert offered(window) == [*CHOICES, "as on Made-up GPU (measured)"]
        enter(window, "threads", "16")
        wait_until(lambda: window.stage.setups[0].values.get("threads") == 16)
        settle(window)
        assert offered(window) == CHOICES


def test_a_recorded_order_is_played_and_everything_is_marked_as_measured(recording: Path) -> None:
    with open_window((SPEC,)) as window:
        window.toolbar.put("schedule", "measured")
        settle(window)
        [session] = window.stage.sessions
        assert session.trace.made_by.startswith("Made-up GPU, ")
        pane = window.central.panes[0]
        assert pane.heading.part.text() in ("Made-up GPU · measured", "measured")
        assert "measured" in pane.counters.accessibleDescription()
        assert "Measured on a Made-up GPU" in pane.counters.accessibleDescription()


def test_if_it_is_unrecorded_one_sentence_explains_the_next_step(recording: Path) -> None:
    with open_window((f"{SPEC},schedule=measured",)) as window:
        enter(window, "threads", "16")
        wait_until(lambda: "No GPU has recorded" in window.central.notice.sentence.text())
        assert "choose another schedule or other sizes" in window.central.notice.sentence.text()
        window.toolbar.put("schedule", "lockstep")
        wait_until(lambda: window.stage.sessions[0].trace.schedule == "lockstep")
