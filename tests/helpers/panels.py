"""Views of the right column for tests, loaded and drawn at a moment."""

from __future__ import annotations

from sessions import application
from tilescope.app.model.session import Selection
from tilescope.app.widgets.theme import Theme

LIGHT = Theme.named("light")


def shown(kind, session, moment=3.0, selection=None, size=(420, 420), theme=LIGHT):
    application()
    view = kind(theme)
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    return view
