"""The picture of a warp's request: used bytes of a sector are drawn at their position, with a text next to them."""

from __future__ import annotations

import itertools

import pytest

from sessions import grab_image, matmul
from tilescope.app.model.session import Selection
from tilescope.app.views.warp.scene import WarpScene
from tilescope.app.widgets.theme import Theme
from views import LIGHT, first_request, show_warp


def scene_of(view):
    """Return the data of the view's picture."""
    return WarpScene(
        view._shown, view.picture.layout_now(), view.theme, view.picture.chosen, frozenset(), frozenset()
    )


@pytest.mark.parametrize("theme", [LIGHT, Theme.named("dark")])
def test_four_of_32_bytes_are_the_left_eighth_of_their_sector(theme):
    session = matmul("transpose-naive")
    request = first_request(session, "global store", "out")
    view = show_warp(session, int(session.requests.moment[request]), Selection(0, 9), (390, 420), theme)
    layout, image = view.picture.layout_now(), grab_image(view.picture)
    assert len(layout.targets) == 32
    for piece, box in zip(view._shown.touched, layout.slices, strict=True):
        sector = layout.targets[piece.target]
        assert (box.x, box.width) == pytest.approx((sector.x, sector.width / 8))
        assert (box.y, box.height) == (sector.y, sector.height)
        ink = theme.colour("global store")
        row = [
            image.pixelColor(x, round(box.middle)) for x in range(round(box.x) + 2, round(sector.right) - 2)
        ]
        used = len([1 for colour in row[: round(box.width) - 4] if colour == ink])
        assert used > 0.6 * (box.width - 4) and ink not in row[round(box.width) :]


def test_what_lies_behind_in_a_sector_is_drawn_behind_the_same_share_of_it():
    session = matmul("transpose-naive")
    view = show_warp(session, 1, Selection(0, 0), (390, 420))
    for piece, box in zip(view._shown.touched, view.picture.layout_now().slices, strict=True):
        sector = view.picture.layout_now().targets[piece.target]
        assert box.x - sector.x == pytest.approx(sector.width * (piece.first % 32) / 32)


def test_the_column_of_used_bytes_is_written_in_a_crowded_picture_too():
    view = show_warp(matmul("transpose-naive"), 2, Selection(0, 9), (390, 420))
    scene = scene_of(view)
    heights = sorted(scene.layout.targets[n].middle for n in scene.noted)
    assert scene.layout.note[1] and len(heights) >= 10
    assert min(b - a for a, b in itertools.pairwise(heights)) >= scene.theme.px(scene.size)
    assert view._shown.touched[9].target in scene.noted  # of the selected lane


def test_where_there_is_little_room_sectors_keep_theirs_and_addresses_go():
    session = matmul("transpose-naive")
    moment = int(session.requests.moment[first_request(session, "global store", "out")])
    narrow, wide = (
        show_warp(session, moment, size=(width, 400)).picture.layout_now() for width in (310, 390)
    )
    for layout in (narrow, wide):
        assert min(box.width for box in layout.targets.values()) >= LIGHT.px(96)
    assert narrow.address[1] == 0 < wide.address[1]
    assert narrow.note[1] > 0 and narrow.element[1] > 0
