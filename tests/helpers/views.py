"""Views for tests, loaded and drawn at a moment, and where things are in them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from sessions import application
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.histogram.view import HistogramView
from tilescope.app.views.memory.view import MemoryView
from tilescope.app.views.timeline.view import TimelineView
from tilescope.app.views.warp.view import WarpView
from tilescope.app.widgets.theme import Theme
from tilescope.kernels.scenarios.catalogue import find
from tilescope.tracer.analysis.requests import REQUEST_KINDS
from tilescope.tracer.hardware.times.recorded_outcomes import RecordedOutcomes
from tilescope.tracer.model.launch import Schedule
from tilescope.tracer.model.plan import launch_of
from tilescope.tracer.simulator.numba_patch import run

LIGHT = Theme.named("light")
LEFT = Qt.MouseButton.LeftButton
NO_KEYS = Qt.KeyboardModifier.NoModifier
LOAD, STORE = 0, 1
SMALL = {"m": 20, "k": 24, "n": 28, "tile": 8}
H200 = RecordedOutcomes("NVIDIA H200", "NVIDIA H200, 2026-11-21", (1,) * 100)


def show_panel(kind, session, moment=3.0, selection=None, size=(420, 420), theme=LIGHT):
    application()
    view = kind(theme)
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    return view


# --- memory


def show_memory(session, moment=0.0, selection=None, size=(550, 450), theme=None, **settings):
    application()
    view = MemoryView(theme or Theme.named("light"))
    view.resize(*size)
    view.load(session)
    for name, value in settings.items():
        setattr(view, name, value)
    view.render_moment(moment, selection or Selection())
    return view


def buffer_number(session, name):
    return next(n for n, b in enumerate(session.trace.buffers) if b.name == name)


def element_point(view, name, *place):
    """Return the position of an element in the view."""
    buffer = buffer_number(view.session, name)
    element = int(np.ravel_multi_index(place, view.session.trace.buffers[buffer].shape))
    return view.position_of(buffer, element)


def first_moment(session, kind, name, block):
    """Return the first moment at which a block makes a request of this kind to a buffer."""
    requests = session.requests
    own_requests = (
        (requests.block == block) & (requests.buffer == buffer_number(session, name)) & (requests.op == kind)
    )
    return int(requests.moment[own_requests][0])


# --- warps


def show_warp(session, moment=1.0, selection=None, size=(420, 640), theme=LIGHT):
    application()
    view = WarpView(theme)
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    view.grab()  # lays it out
    return view


def first_request(session, kind, name, warp=0, block=0):
    """Return the first request of this kind that a warp makes to the buffer of this name."""
    requests, trace = session.requests, session.trace
    named = [i for i, b in enumerate(trace.buffers) if b.name == name]
    own_requests = (requests.block == block) & (requests.warp == warp) & np.isin(requests.buffer, named)
    return int(np.flatnonzero(own_requests & (requests.kind == REQUEST_KINDS.index(kind)))[0])


# --- histogram


def counter_session(schedule="lockstep", name="count-racing", seed=3) -> Session:
    launch = launch_of(find(name), {}, schedule=Schedule(schedule, seed))
    return build_session(launch, run(launch, lambda done, total: None), find(name))


def show_histogram(session, moment=3.0, selection=None, size=(620, 480), theme=LIGHT, spread=None):
    application()
    view = HistogramView(theme)
    view.resize(*size)
    view.load(session)
    view.spread = spread
    view.render_moment(moment, selection or Selection())
    return view


# --- timeline and the mouse over it


def show_timeline(session, moment=3.0, selection=None, size=(1200, 112), theme=None):
    application()
    view = TimelineView(theme or Theme.named("light"))
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    return view


def record_requests(view, name):
    """Let a view add what it asks for under this name of ViewRequests to the returned list."""
    asked = []
    view.ask = view.ask._replace(**{name: asked.append})
    return asked


def record_calls(owner, name):
    """Let a part add the arguments of its callable of this name to the returned list."""
    values = []
    setattr(owner, name, lambda *given: values.append(given[0] if len(given) == 1 else given))
    return values


def record_signal(signal):
    values = []
    signal.connect(lambda *given: values.append(given[0] if len(given) == 1 else given))
    return values


def row_point(view, moment, warp=0):
    rows = view.places.rows
    tall = rows.height() / view.session.trace.warps
    return QPoint(round(view.places.x(moment)), round(rows.top() + (warp + 0.5) * tall))


def turn_wheel(view, point, delta, keys=NO_KEYS):
    where = QPointF(point)
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(
        where, view.mapToGlobal(where), QPoint(), QPoint(0, delta), buttons, keys, phase, False
    )
    application().sendEvent(view, event)


def cell_colours(image, view, moment, warp):
    rows, places = view.places.rows, view.places
    tall = rows.height() / view.session.trace.warps
    xs = range(int(np.ceil(places.x(moment))) + 2, int(places.x(moment + 1)) - 2)
    ys = range(int(rows.top() + warp * tall) + 1, int(rows.top() + (warp + 1) * tall) - 1)
    return [image.pixelColor(x, y).name().upper() for x in xs for y in ys]
