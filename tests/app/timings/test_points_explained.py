"""The roofline's points say why they are where they are: by recorded figures, and without them."""

from __future__ import annotations

import csv
import io
from math import inf

import pyqtgraph as pg
import pytest
from msgspec.structs import replace

from recorded_charts import H200, SIDES, choice_of, raw_row
from synthetic_profiles import replace_recorded_profiles, synthetic_profile, synthetic_record
from tilescope.app.timings.drawing.view import ChartView
from tilescope.app.timings.model.build import build
from tilescope.app.timings.model.choice import Choice
from tilescope.app.timings.model.nearest_measured import explanation, nearest_time
from tilescope.app.timings.model.table import csv_text
from tilescope.app.widgets.theme import Theme
from tilescope.app.window.start import application

FLOP = 2 * 1024**3
TILED = choice_of("matmul-tiled", chart="roofline", problem="M = K = N = 1,024")


def profile(**numbers):
    parameters = raw_row("matmul-tiled", **SIDES, tile=16, dtype="float32")["parameters"]
    return synthetic_profile("matmul-tiled", **parameters, **numbers)


def point(choice=TILED):
    figure = build([H200], choice)
    (series,) = figure.panels[0].series
    return figure, series.points[0]


@pytest.fixture
def recorded(monkeypatch):
    """Return a function that replaces the profiles of the package."""
    return lambda *profiles: replace_recorded_profiles(
        monkeypatch, synthetic_record(*profiles) if profiles else None
    )


def test_a_ring_stands_where_the_bytes_of_dram_put_the_point(recorded):
    recorded(profile(dram_read=30e6, dram_written=3e6))
    figure, drawn = point()
    assert drawn.measured_x == pytest.approx(FLOP / 33e6)
    assert drawn.x < drawn.measured_x
    assert ("measured", "bytes of rings") in figure.panels[0].x.marks
    (note,) = (note for note in figure.notes if note.startswith("Ring"))
    assert "NVIDIA H200, 2026-11-23, caches warm" in note


def test_the_tip_has_every_number_with_its_mark(recorded):
    recorded(profile(dram_read=30e6, l1_hits=2.5, l2_hits=97.0, warps_active=95.5))
    lines = point()[1].text.splitlines()
    assert lines[0].startswith("Tiled, shared memory: 7,2")
    assert lines[1] == "Requested from global memory: 541 MB (exact)"
    assert lines[2] == "30.0 MB read from DRAM, 0 B written (measured)"
    assert lines[3] == "L1 had 2.5 % and L2 had 97 % of the sectors requested from it (measured)"
    assert lines[4] == "Occupancy 100 %, limited by registers and threads (modelled)"
    assert lines[5] == "95.5 % of the warps active (measured)"
    assert "Nsight Compute: NVIDIA H200, 2026-11-23" in lines[6]


def test_the_table_has_them_too(recorded):
    recorded(profile(dram_read=30e6, l1_hits=None))
    lines = [line for line in csv_text(point()[0]).splitlines() if not line.startswith("#")]
    explanations = {
        r["quantity"]: (r["value"], r["unit"], r["marks"])
        for r in csv.DictReader(io.StringIO("\n".join(lines)))
    }
    assert explanations["DRAM read"] == ("30000000.0", "B", "measured")
    assert explanations["occupancy"] == ("100.0", "%", "modelled")
    assert explanations["global memory traffic"] == ("541065216", "B", "exact")
    assert "L1 hits" not in explanations
    assert explanations["L2 hits"][2] == "measured"


def test_without_recorded_figures_there_is_no_ring_and_no_word_of_one(recorded):
    recorded()
    figure, drawn = point()
    assert drawn.measured_x is None
    assert not any("Ring" in note for note in figure.notes)
    assert "DRAM" not in drawn.text
    assert "measured" not in {mark for mark, _ in figure.panels[0].x.marks}


def test_cold_caches_are_asked_of_for_a_cold_time(recorded):
    recorded(profile(), replace(profile(dram_read=12.6e6), caches="cold"))
    figure, drawn = point(replace(TILED, kind="kernel-cold"))
    assert drawn.measured_x == pytest.approx(FLOP / 12.6e6)
    assert any("caches cold" in note for note in figure.notes)


def test_a_measurement_of_another_gpu_is_not_explained_by_this_one(recorded):
    recorded(profile())
    device = replace(H200.measurement.device, name="NVIDIA L4", compute_capability=(8, 9))
    other = replace(H200, measurement=replace(H200.measurement, device=device))
    (series,) = build([other], TILED).panels[0].series
    assert series.points[0].measured_x is None
    assert "Occupancy" not in series.points[0].text


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("read", "place"), [(30e6, "ring"), (0.0, "arrow")])
def test_ring_and_arrow_are_drawn_and_repeat_the_text_of_the_point(recorded, name, read, place):
    application()
    views = []
    for profiles in ([profile(dram_read=read)], []):
        recorded(*profiles)
        view = ChartView(Theme.named(name))
        view.show_figure(point()[0])
        view.resize(900, 600)
        views.append((view, view.grab().toImage()))
    (explained, picture), (plain, before) = views
    assert picture != before
    assert point()[1].measured_x is None  # the last record was none
    (plot,) = explained.plots
    places = {
        item.opts["symbol"]: item.getData()
        for item in plot.vb.childGroup.childItems()
        if isinstance(item, pg.ScatterPlotItem)
    }
    symbol = "arrow_right" if place == "arrow" else "o"
    (x,), (y,) = places[symbol]
    (mark,) = plot.marks
    assert y == pytest.approx(mark.y)
    assert x > mark.x
    assert "Tiled" in mark.text
    assert not [
        item for item in plain.plots[0].vb.childGroup.childItems() if isinstance(item, pg.ScatterPlotItem)
    ]
    if place == "arrow":
        assert x == pytest.approx(plot.vb.viewRange()[0][1])


def test_no_bytes_at_all_put_the_ring_at_infinity(recorded):
    recorded(profile(dram_read=0.0, dram_written=0.0))
    assert point()[1].measured_x == inf


def test_the_time_of_a_pane_is_explained_by_occupancy_and_what_was_counted(recorded):
    recorded(profile(dram_read=30e6))
    lines = explanation(nearest_time("matmul-tiled", SIDES, [H200]), None).splitlines()
    assert lines[0].startswith("NVIDIA H200")
    assert "room for 8 blocks" in lines[1]
    assert "30.0 MB read from DRAM" in lines[2]
    recorded()
    assert len(explanation(nearest_time("matmul-tiled", SIDES, [H200]), None).splitlines()) == 2


def test_charts_of_other_kinds_are_as_they_were(recorded):
    recorded(profile())
    for chart in ("bars", "scaling"):
        assert not any("Ring" in note for note in build([H200], Choice(chart)).notes)
