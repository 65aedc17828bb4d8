"""What the tests of charts share: the recorded measurement of the H200, and choices of what to draw."""

from __future__ import annotations

import json

from tilescope.app.timings.model.choice import ChartSubject, Choice
from tilescope.app.timings.model.sources import Source
from tilescope.tracer.hardware.times.measurement import load, recorded_measurements

FILE = recorded_measurements()[0]
RAW = json.loads(FILE.read_bytes())["measurement"]
H200 = Source(FILE, load(FILE), recorded=True)
SIDES = {"m": 1024, "k": 1024, "n": 1024}


def raw_row(scenario, baseline="", **parameters):
    """Return the first row of the file with these parameters, as it stands there."""
    return next(
        row
        for row in RAW["rows"]
        if (row["scenario"], row["baseline"]) == (scenario, baseline)
        and all(row["parameters"].get(name) == value for name, value in parameters.items())
    )


def samples_of(row, kind):
    return next(timing["microseconds"] for timing in row["timings"] if timing["kind"] == kind)


def choice_of(*keys, **options):
    pairs = [key.partition("/") for key in keys]
    return Choice(subjects=tuple(ChartSubject(name, baseline) for name, _, baseline in pairs), **options)
