"""The segments of an explicit order in a timeline: which thread ran when."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from sessions import grab_image, run_any, scenario_of
from tilescope.app.model.session import Selection, Session, build_session
from tilescope.app.views.common.order_spans import order_spans
from tilescope.tracer.model.launch import decode
from tilescope.tracer.model.plan import launch_of, parse_spec
from views import LIGHT, row_point, show_timeline


def session_of(spec: str) -> Session:
    scenario, values, options = parse_spec(spec)
    trace = run_any(launch_of(scenario, values, **options), lambda done, total: None)
    launch = decode(trace.launch)
    return build_session(launch, trace, scenario_of(launch))


def test_each_segment_has_the_moments_of_its_accesses():
    session = session_of("count-racing:num_blocks=1,threads=64,schedule=order:t1x2+t33x1+w0x1+t3")
    spans = order_spans(session, 0)
    assert [(span.warp, span.name) for span in spans] == [(0, "t1"), (1, "t33"), (0, "w0"), (0, "t3")]
    moment, trace = session.requests.moment[session.requests.request], session.trace
    assert [trace.thread[moment == span.first].tolist()[0] for span in spans] == [1, 33, 0, 3]
    assert (spans[0].first, spans[0].last, spans[1].first) == (1, 2, 3)
    assert all(span.last < later.first for span, later in pairwise(spans))


def test_the_last_segment_ends_with_the_launch():
    session = session_of("count-racing:num_blocks=1,threads=4,schedule=order:t0+t1+t2+t3")
    spans = [(span.first, span.last, span.name) for span in order_spans(session, 0)]
    assert spans == [(1, 2, "t0"), (3, 4, "t1"), (5, 6, "t2"), (7, 8, "t3")]
    blocks = session_of("count-racing:num_blocks=2,threads=2,schedule=order:b1+t0")
    assert [span.name for span in order_spans(blocks, 1)] == ["b1"]


def test_blocks_have_their_own_spans_and_other_schedules_none():
    session = session_of("count-racing:num_blocks=2,threads=4,schedule=order:b1t2x1+t0x1")
    assert [span.name for span in order_spans(session, 1)] == ["t2"]
    assert [span.name for span in order_spans(session, 0)] == ["t0"]
    assert order_spans(session_of("count-racing:num_blocks=1,threads=4"), 0) == []


def test_a_bracket_and_a_tooltip_mark_who_was_chosen():
    session = session_of("count-racing:num_blocks=1,threads=4,schedule=order:t1x2+t3")
    view = show_timeline(session, 0)
    rows, ink = view.places.rows, QColor(LIGHT.colour("text"))
    image = grab_image(view)

    def is_marked(moment: float) -> bool:
        return image.pixelColor(round(view.places.x(moment)), round(rows.top()) + 1) == ink

    assert is_marked(1.3) and is_marked(3.3) and not is_marked(7.5)
    assert view.text_at(QPointF(row_point(view, 2.5))).endswith("; the order chose thread 1")
    assert "the order chose" not in view.text_at(QPointF(row_point(view, 7.5)))
    view.load(session_of("count-racing:num_blocks=1,threads=4,schedule=order:t0+t1+t2+t3"))
    view.render_moment(0, Selection())
    image = grab_image(view)
    assert is_marked(7.5)
