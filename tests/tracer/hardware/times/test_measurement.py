"""Measurements: statistics, sampling, and the file with what it refuses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measured import measurement
from tilescope.tracer.hardware.times.measurement import (
    LARGEST,
    MeasurementError,
    load,
    median,
    median_interval,
    save,
)
from tilescope.tracer.hardware.times.sampling import (
    FEWEST,
    SamplingError,
    StoppingCriterion,
    relative_half_width,
    sample,
)

# --- statistics


def test_the_median_interval_consists_of_order_statistics():
    # Binomial(20, 1/2): P(X < 6) = 0.0207, P(X < 7) = 0.0577, so the 6th smallest and largest bound it.
    ranks = tuple(float(i) for i in range(1, 21))
    assert median(ranks) == 10.5
    assert median_interval(ranks) == (6, 15)
    assert median_interval((3.0, 1.0, 2.0)) == (1, 3)
    assert median_interval((7.0,)) == (7, 7)


@given(st.integers(6, 1500))
def test_the_interval_contains_the_median_as_often_as_promised(count):
    low, _ = median_interval(tuple(float(i) for i in range(count)))
    below = int(low)
    tail = sum(math.comb(count, k) for k in range(below + 1)) / 2**count
    wider = sum(math.comb(count, k) for k in range(below + 2)) / 2**count
    assert tail <= 0.0255
    assert wider > 0.0245


def test_more_samples_give_a_narrower_interval():
    random = np.random.default_rng(0)
    few, count = (tuple(random.normal(100, 5, n)) for n in (30, 1000))
    assert relative_half_width(count) < relative_half_width(few)
    assert relative_half_width((5.0,) * 30) == 0


# --- sampling


class Clock:
    """Time that passes only while a sample is taken."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sampler(self, seconds, microseconds, log, name):
        def take_sample():
            self.now += seconds
            log.append(name)
            return microseconds()

        return take_sample


def test_samples_are_taken_in_turns_until_the_median_is_stable():
    clock, log = Clock(), []
    random = np.random.default_rng(1)
    samplers = {
        "steady": clock.sampler(0.001, lambda: 50.0, log, "steady"),
        "noisy": clock.sampler(0.001, lambda: float(random.normal(100, 3)), log, "noisy"),
    }
    samples = sample(samplers, StoppingCriterion(0.01, 10), clock=clock)
    steady, noisy = samples["steady"], samples["noisy"]
    assert len(steady[0]) == FEWEST
    assert steady[1] and noisy[1]
    assert len(noisy[0]) > FEWEST
    assert relative_half_width(noisy[0]) <= 0.01
    assert log[: 2 * FEWEST] == ["steady", "noisy"] * FEWEST


def test_the_time_limit_ends_unstable_sampling():
    clock, counts = Clock(), []
    values = iter([100.0, 300.0] * 1000)
    samplers = {
        "wild": clock.sampler(0.01, lambda: next(values), [], "wild"),
        "long": clock.sampler(5, lambda: 5e6, [], "long"),
    }
    samples = sample(
        samplers, StoppingCriterion(0.01, 1), lambda done, sampling: counts.append((done, sampling)), clock
    )
    assert 100 <= len(samples["wild"][0]) <= 101
    assert not samples["wild"][1]
    assert len(samples["long"][0]) == 3
    assert counts == [(1, 2), (2, 2)]


def test_a_failing_sample_names_its_row():
    def fail():
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")

    with pytest.raises(SamplingError) as failed:
        sample({"good": lambda: 1.0, "bad": fail}, StoppingCriterion())
    assert failed.value.key == "bad"
    assert "ILLEGAL" in str(failed.value.error)


# --- the file


def test_a_file_round_trips_every_sample(tmp_path):
    built = measurement(1.5, 2.25, 1.75)
    save(built, tmp_path / "m.json")
    assert load(tmp_path / "m.json") == built
    assert built.origin == "NVIDIA H200, 2026-11-20"
    assert built.rows[0].timing("kernel-warm").median == 1.75
    assert built.rows[0].timing("cpu") is None
    assert built.rows[0].flop == 2 * 64**3
    assert built.rows[0].bytes == 3 * 64 * 64 * 4
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def edited(change):
    def edit(text):
        content = json.loads(text)
        change(content)
        return json.dumps(content, separators=(",", ":"))

    return edit


def row_with(**fields):
    return edited(lambda c: c["measurement"]["rows"][0].update(fields))


def set_sample(value):
    return edited(lambda c: c["measurement"]["rows"][0]["timings"][0].update(microseconds=[value]))


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda text: "", "is empty"),
        (lambda text: text[:200], "not a complete measurement"),
        (lambda text: "[1, 2]", "not a complete measurement"),
        (lambda text: "\xff", "not a complete measurement"),
        (lambda text: "[" * 100_000, "not a complete measurement"),
        (edited(lambda c: c.update(version=1)), "format 1, this Tilescope reads 2"),
        (edited(lambda c: c.update(format="other")), "not a Tilescope measurement"),
        (edited(lambda c: c["measurement"].update(extra=1)), "extra"),
        (edited(lambda c: c["measurement"].update(rows=[])), "no measured row"),
        (edited(lambda c: c["measurement"]["rows"][0].update(flop="many")), "flop"),
        (set_sample(1.0), "changed after it was measured"),
        (set_sample(-1.0), "not a positive number"),
        (set_sample(0), "not a positive number"),
        (set_sample(math.nan), "not a complete measurement"),
        (set_sample(None), "not a complete measurement"),
        (
            edited(lambda c: c["measurement"]["rows"][0]["timings"][0].update(microseconds=[])),
            "without samples",
        ),
        (lambda text: text.replace("[1.5]", "[1e999]"), "not a complete measurement"),
        (row_with(parameters={"m": 4, "k": 4}), "no whole numbers above 0 as its m, k, n"),
        (row_with(parameters={"m": 4, "k": 4, "n": "many"}), "no whole numbers above 0 as its m, k, n"),
        (row_with(parameters={"count": 0}), "no whole numbers above 0 as its count"),
        (row_with(grid=[1, -1, 1]), "a size below 1"),
        (row_with(arrays={"a": [[-4], "float32"]}), "a size below 1"),
        (row_with(arrays={"a": [[4], "float31"]}), "elements of type 'float31'"),
        (edited(lambda c: c["measurement"]["ceilings"].update(copy_gb_per_s=-1)), "a ceiling that is not"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, edit, words):
    path = tmp_path / "m.json"
    save(measurement(1.5), path)
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="latin-1")
    with pytest.raises(MeasurementError) as refused:
        load(path)
    text = str(refused.value)
    assert words in text
    assert text.startswith(str(path))
    assert "\n" not in text
    assert text.endswith("; measure again or choose another file.")


def test_a_file_that_is_too_large_is_not_even_read(tmp_path):
    path = tmp_path / "m.json"
    with path.open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(MeasurementError, match="too large for a measurement file; choose another"):
        load(path)


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(MeasurementError, match="can't be read"):
        load(tmp_path / "gone.json")
    with pytest.raises(MeasurementError, match="can't be written"):
        save(measurement(1.0), tmp_path / "no" / "folder.json")
