"""Fused multiply-add: one rounding, in every format, however large or small the numbers are."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from tilescope.tracer.recording.fused import fma

KINDS = {"float16": np.uint16, "float32": np.uint32, "float64": np.uint64}


def any_float(kind, rng):
    """Return any float of a kind, nan and inf among them."""
    bits = KINDS[kind]
    return bits(rng.getrandbits(bits(0).itemsize * 8)).view(kind)


def ratio(value):
    """Return a finite float as a fraction."""
    return Fraction(*value.item().as_integer_ratio())


def is_nearest(results, exact, kind):
    """Check whether a float is the nearest to a number; a tie goes to the even one."""
    largest = ratio(np.finfo(kind).max)
    if math.isinf(results):
        step = largest - ratio(np.nextafter(np.finfo(kind).max, np.dtype(kind).type(0)))
        return abs(exact) >= largest + step / 2 and (results > 0) == (exact > 0)
    away = abs(ratio(results) - exact)
    for towards in (math.inf, -math.inf):
        other = np.nextafter(results, np.dtype(kind).type(towards))
        if math.isinf(other):
            continue
        if abs(ratio(other) - exact) < away:
            return False
        if abs(ratio(other) - exact) == away and int(results.view(KINDS[kind])) & 1:
            return False
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_number_to_the_exact_result(kind):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng = random.Random(seed)
    cls = np.dtype(kind).type
    with np.errstate(all="ignore"):
        for case in range(4000):
            a, b, c = (any_float(kind, rng) for _ in range(3))
            if case % 2:  # of one size, so that they cancel
                c = cls(-a * b * cls(rng.choice([0.5, 1, 1 + float(np.finfo(kind).eps), 3])))
            results = cls(fma(kind, a, b, c))
            if not (np.isfinite(a) and np.isfinite(b) and np.isfinite(c)):
                product = np.float64(a) * np.float64(b)
                expected = np.float64(c) if np.isfinite(a) and np.isfinite(b) else product + np.float64(c)
                assert np.array_equal(np.float64(results), expected, equal_nan=True), (a, b, c)
                continue
            assert is_nearest(results, ratio(a) * ratio(b) + ratio(c), kind), (a, b, c, results)


def test_zeros_have_the_sign_that_ieee_754_gives_them():
    for kind in KINDS:
        cls = np.dtype(kind).type
        assert math.copysign(1, fma(kind, cls(-0.0), cls(1), cls(-0.0))) == -1
        assert math.copysign(1, fma(kind, cls(-0.0), cls(1), cls(0.0))) == 1
        assert math.copysign(1, fma(kind, cls(3), cls(2), cls(-6))) == 1


def test_the_types_that_stand_for_each_kind():
    results = [fma(kind, 1.5, 2.0, 1.0) for kind in KINDS]
    assert [type(value) for value in results] == [np.float16, np.float32, float]
    assert results == [4, 4, 4]
