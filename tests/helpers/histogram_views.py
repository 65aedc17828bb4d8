"""Histogram views for tests."""

from __future__ import annotations

from sessions import application
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.histogram.view import HistogramView
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.measure.recorded_outcomes import RecordedOutcomes
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.simulator.numba_patch import run

LIGHT = Theme.named("light")


H200 = RecordedOutcomes("NVIDIA H200", "NVIDIA H200, 2026-11-21", (1,) * 100)


def counter(schedule="lockstep", name="count-racing", seed=3) -> Session:
    launch = launch_of(find(name), {}, schedule=Schedule(schedule, seed))
    return build_session(launch, run(launch, lambda done, of: None), find(name))


def shown(session, moment=3.0, selection=None, size=(620, 480), theme=LIGHT, spread=None):
    application()
    view = HistogramView(theme)
    view.resize(*size)
    view.load(session)
    view.spread = spread
    view.render_moment(moment, selection or Selection())
    return view
