"""Buffers of which a launch touches little: their cells look as they do where all of them are followed."""

from __future__ import annotations

import numpy as np
import pytest

from sessions import matmul, odd_session, uneven_session
from tilescope.app.model.session import Selection, build_session
from tilescope.app.views.common.cell_colours import POISON, downsample_codes
from tilescope.app.views.memory.layout.sheet import sheet_of
from tilescope.app.views.memory.outlines import CellRect
from tilescope.app.views.memory.sparse_sheets import add_changing_codes, unchanging_dots
from tilescope.app.views.memory.view_data import MemoryViewData
from tilescope.tracer.analysis import access_history

SESSIONS = {"matmul": lambda folder: matmul(), "uneven": uneven_session, "odd": odd_session}


@pytest.mark.parametrize("make", SESSIONS.values(), ids=SESSIONS)
@pytest.mark.parametrize("colour_by", ["auto", "value", "reads"])
def test_few_cells_followed_look_as_all_cells_followed(make, colour_by, tmp_path, monkeypatch):
    plain = make(tmp_path)
    monkeypatch.setattr(access_history, "MANY", 0)
    monkeypatch.setattr(access_history, "FEW", 0)
    session = build_session(plain.launch, plain.trace, plain.scenario)
    data, full_data, selection, compared = MemoryViewData(session), MemoryViewData(plain), Selection(), 0
    for number, buffer in enumerate(session.trace.buffers):
        sheet = sheet_of(buffer)
        group = next(g for g in full_data.groups(colour_by, selection) if number in g.buffers)
        for part in (
            CellRect(0, 0, sheet.rows, sheet.cols),
            CellRect(1, 1, max(1, sheet.rows - 1), sheet.cols),
        ):
            for step in (1, 2, 3):
                for moment in np.linspace(0, session.end, 6).astype(int).tolist():
                    changing_elements = data.changing_elements(number, group, moment, selection)
                    if changing_elements is None:
                        continue
                    first = data.untouched(number, sheet, group, selection)
                    dots, hatched = add_changing_codes(
                        unchanging_dots(first, sheet, changing_elements.elements, part, step),
                        changing_elements.codes,
                    )
                    codes = full_data.codes(number, sheet, group, moment, selection)
                    codes = codes[part.row0 : part.row1, part.col0 : part.col1]
                    np.testing.assert_array_equal(dots, downsample_codes(codes, step))
                    assert hatched == (codes == POISON).any()
                    compared += 1
    assert compared > 30
