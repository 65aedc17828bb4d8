"""Timelines for tests, and the mouse over them."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent

from sessions import application
from tilescope.app.model.session import Selection
from tilescope.app.views.timeline.view import TimelineView
from tilescope.app.widgets.theme import Theme

LEFT = Qt.MouseButton.LeftButton


NO_KEYS = Qt.KeyboardModifier.NoModifier


def shown(session, moment=3.0, selection=None, size=(1200, 112), theme=None):
    application()
    view = TimelineView(theme or Theme.named("light"))
    view.resize(*size)
    view.load(session)
    view.render_moment(moment, selection or Selection())
    return view


def heard(signal):
    values = []
    signal.connect(lambda *given: values.append(given[0] if len(given) == 1 else given))
    return values


def rows_point(view, moment, warp=0):
    rows = view.places.rows
    tall = rows.height() / view.session.trace.warps
    return QPoint(round(view.places.x(moment)), round(rows.top() + (warp + 0.5) * tall))


def turned(view, point, delta, keys=NO_KEYS):
    where = QPointF(point)
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(
        where, view.mapToGlobal(where), QPoint(), QPoint(0, delta), buttons, keys, phase, False
    )
    application().sendEvent(view, event)


def colours_of_cell(image, view, moment, warp):
    rows, at = view.places.rows, view.places
    tall = rows.height() / view.session.trace.warps
    xs = range(int(np.ceil(at.x(moment))) + 2, int(at.x(moment + 1)) - 2)
    ys = range(int(rows.top() + warp * tall) + 1, int(rows.top() + (warp + 1) * tall) - 1)
    return [image.pixelColor(x, y).name().upper() for x in xs for y in ys]
