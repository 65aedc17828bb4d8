"""The words on screen: numbers, places, elements, verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from msgspec.structs import replace

from sessions import matmul
from tilescope.app.views.common import wording
from tilescope.tracer.model.trace import Buffer, Check, KernelError


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (65536, "64 KiB"), (1536, "1.5 KiB"), (3 << 30, "3 GiB")],
)
def test_bytes(number, text):
    assert wording.bytes_text(number) == text


@pytest.mark.parametrize(
    ("number", "dim", "text"),
    [
        (5, (64, 1, 1), "5"),
        (53, (16, 16, 1), "(5, 3)"),
        (30, (2, 3, 6), "(0, 0, 5)"),
        (0, (1, 1, 1), "0"),
        (3, (1, 4, 1), "(0, 3)"),
    ],
)
def test_coordinates(number, dim, text):
    assert wording.coordinates_text(number, dim) == text


@pytest.mark.parametrize(
    ("shape", "strides", "unit"),
    [
        ((4, 3), (12, 4), 4),
        ((3, 2), (8, 24), 8),
        ((5,), (4,), 2),
        ((4,), (13,), 13),
        ((2, 3, 4), (48, 16, 4), 4),
        ((2, 3), (40, 12), 4),
    ],
)
def test_every_element_of_an_array_is_named_by_its_place(shape, strides, unit):
    buffer = Buffer("tile", "shared", "int8", shape, strides, 0, unit, 100)
    for place, index in np.ndenumerate(buffer.elements()):
        assert wording.element_text(buffer, int(index)) == f"tile[{', '.join(map(str, place))}]"


def test_an_index_between_the_elements_is_outside():
    buffer = Buffer("half", "global", "float32", (4,), (8,), 0, 4, 8)
    assert wording.element_text(buffer, 1) == "half, byte 4: outside"
    assert wording.element_text(replace(buffer, name="a"), 2) == "a[1]"
    assert wording.element_text(buffer, 99).endswith("outside")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.43861), "0.4386"),
        (np.float64(12), "12"),
        (np.int32(-1234567), "-1234567"),
        (np.bool_(True), "True"),
        (np.float32("nan"), "nan"),
        (np.complex64(1 + 2j), "1+2j"),
    ],
)
def test_values(value, text):
    assert wording.value_text(value) == text


@pytest.mark.parametrize(
    ("error", "text"), [(4.2e-7, "4e-7"), (0.0, "0"), (0.25, "0.2"), (0.0042, "0.004"), (3e4, "3e4")]
)
def test_errors(error, text):
    assert wording.error_text(error) == text


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (Check(8.1e-6, 1e-4, True, 0, 4096), "equals NumPy, largest error 8e-6"),
        (Check(0.0, 0.0, True, 0, 4096), "equals NumPy exactly"),
        (Check(1023.0, 0.0, False, 1, 1), "differs from NumPy: off by 1,023"),
        (Check(0.25, 0.0, False, 1, 1), "differs from NumPy: off by 0.25"),
        (
            Check(21.94, 1e-4, False, 1023, 1024),
            "differs from NumPy in 1,023 of 1,024 elements, by up to 21.9",
        ),
        (
            Check(123456.7, 1e-4, False, 1, 1024),
            "differs from NumPy in 1 of 1,024 elements, by up to 123,457",
        ),
        (Check(math.inf, 1e-4, False, 24, 1000), "differs from NumPy in 24 of 1,000 elements"),
        (Check(math.inf, 1e-4, False), "differs from NumPy: not a number"),
        (Check(20.0, 1e-4, False), "differs from NumPy: off by 20"),
    ],
)
def test_the_verdict_against_numpy_names_the_difference_and_its_element(check, text):
    assert wording.compared_text(check) == text
    assert wording.compared_text(check, brief=True) == text.partition(", by up to")[0]


def test_the_verdict():
    trace = matmul(m=8, k=4, n=8, tile=8).trace
    assert (
        wording.check_text(trace)[0].startswith("equals NumPy, largest error ")
        and wording.check_text(trace)[1]
    )
    wrong = replace(trace, check=Check(3.0, 1e-5, False))
    assert wording.check_text(wrong) == ("differs from NumPy: off by 3", False)
    assert wording.check_text(replace(trace, check=None)) == ("", True)
    error = KernelError("IndexError", "no", (0, 0, 0), (0, 0, 0), "k.py", 3)
    assert wording.check_text(replace(trace, error=error)) == ("stopped: IndexError", False)


def test_a_complete_launch_reports_no_parts():
    trace = matmul(m=8, k=4, n=8, tile=8).trace
    assert wording.part_text(trace) == ""
    assert wording.part_text(replace(trace, accesses=10 * len(trace))).startswith("A part of the accesses: ")


def test_operands_are_named_left_one_first():
    assert [name for _, name in wording.operands(matmul(m=8, k=4, n=8, tile=8))] == ["A", "B"]
