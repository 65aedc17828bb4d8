"""A memory view of a session for tests, and where things are in it."""

from __future__ import annotations

import numpy as np

from sessions import application
from tilescope.app.model.session import Selection
from tilescope.app.views.memory.view import MemoryView
from tilescope.app.widgets.theme import Theme

LOAD, STORE = 0, 1
SMALL = {"m": 20, "k": 24, "n": 28, "tile": 8}


def shown(session, moment=0.0, selection=None, size=(550, 450), theme=None, **settings):
    application()
    view = MemoryView(theme or Theme.named("light"))
    view.resize(*size)
    view.load(session)
    for name, value in settings.items():
        setattr(view, name, value)
    view.render_moment(moment, selection or Selection())
    return view


def number(session, name):
    return next(n for n, b in enumerate(session.trace.buffers) if b.name == name)


def point(view, name, *place):
    """Return where an element stands in the view."""
    buffer = number(view.session, name)
    element = int(np.ravel_multi_index(place, view.session.trace.buffers[buffer].shape))
    return view.position_of(buffer, element)


def moment_of(session, kind, name, block):
    """Return the first moment at which a block makes a request of this kind to a buffer."""
    requests = session.requests
    mine = (requests.block == block) & (requests.buffer == number(session, name)) & (requests.op == kind)
    return int(requests.moment[mine][0])
