"""Warp views for tests, and the requests that they show."""

from __future__ import annotations

import numpy as np

from sessions import application
from tilescope.app.model.session import Selection
from tilescope.app.views.warp.view import WarpView
from tilescope.app.widgets.theme import Theme
from tilescope.tracer.analysis.requests import REQUEST_KINDS

LIGHT = Theme.named("light")


def shown(session, moment=1.0, selection=None, size=(420, 640), theme=LIGHT):
    application()
    view = WarpView(theme)
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    view.grab()  # lays it out
    return view


def request_of(session, kind, name, warp=0, block=0):
    """Return the first request of this kind that a warp makes to the buffer of this name."""
    requests, trace = session.requests, session.trace
    named = [i for i, b in enumerate(trace.buffers) if b.name == name]
    mine = (requests.block == block) & (requests.warp == warp) & np.isin(requests.buffer, named)
    return int(np.flatnonzero(mine & (requests.kind == REQUEST_KINDS.index(kind)))[0])
