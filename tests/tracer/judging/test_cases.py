"""The cases of a judge: what may be yielded, and a sentence that blames the exercise for each mistake."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tilescope.tracer.judging.cases import MAX_CASES, InvalidExerciseError, collect_cases
from tilescope.tracer.judging.compare import wrong_argument


def stub(a, out, n):
    """Stand for a kernel."""


KERNEL = SimpleNamespace(py_func=stub)
A = np.arange(12.0).reshape(3, 4)
CASE = {
    "grid": 2,
    "block": (4, 2),
    "arguments": (A.T, np.zeros(5, np.int32), 5),
    "expected": {"out": np.ones(5)},
}


def cases(*output):
    return collect_cases(lambda: iter(output), KERNEL, __file__)


def test_a_case_is_a_launch_with_copies_of_its_arrays():
    (case,) = cases({**CASE, "tolerance": 1e-3, "shared_bytes": 64, "sizes": {"n": np.int64(5), "x": 0.5}})
    assert (case.grid, case.block, case.shared_bytes, case.tolerance) == ((2, 1, 1), (4, 2, 1), 64, 1e-3)
    assert case.sizes == {"n": 5, "x": 0.5} and isinstance(case.sizes["n"], int)
    assert list(case.expected) == [1]
    first, second = case.fresh_arguments(), case.fresh_arguments()
    assert first[0].flags.c_contiguous and first[0].tolist() == A.T.tolist()
    first[1][:] = 7
    assert second[1].sum() == 0 and case.arguments[1].sum() == 0


def test_the_expected_result_does_not_change_with_its_arguments():
    values = np.arange(5)
    (case,) = cases({**CASE, "arguments": (A, values, 5), "expected": {"out": values[::-1]}})
    values[:] = 0
    assert case.expected[1].tolist() == [4, 3, 2, 1, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"grid": 0}, "'grid' is 0, not one to three positive whole numbers"),
        ({"grid": (1, 2, 3, 4)}, "'grid' is (1, 2, 3, 4)"),
        ({"grid": (1, 70_000)}, "CUDA takes at most"),
        ({"block": 2.5}, "'block' is 2.5"),
        ({"block": (64, 32)}, "at most 1,024 threads, not 2,048"),
        ({"arguments": A}, "'arguments' is ndarray, not a tuple"),
        ({"arguments": (A,)}, "takes 3 arguments, not 1"),
        ({"arguments": (A, [1, 2], 5)}, "the argument out is list"),
        ({"arguments": (A, np.array([None]), 5)}, "an array of object"),
        ({"expected": {}}, "'expected' is not a dict with an array"),
        ({"expected": np.ones(5)}, "'expected' is not a dict with an array"),
        ({"expected": {"result": np.ones(5)}}, "'result' in 'expected' is not an array of the stub; its arrays are"),
        ({"expected": {"n": 5}}, "'n' in 'expected' is not an array"),
        ({"expected": {"out": np.ones(4)}}, "has the shape (4,), and the argument (5,)"),
        ({"expected": {"out": np.array(["a"] * 5)}}, "holds <U1, not numbers"),
        ({"tolerance": -1}, "'tolerance' is -1"),
        ({"tolerance": float("nan")}, "'tolerance' is nan"),
        ({"shared_bytes": 1 << 20}, "'shared_bytes' is 1048576"),
        ({"sizes": {"n": "five"}}, "'n' in 'sizes' is not a name with a finite number"),
        ({"colour": "red"}, "'colour' is unknown; the keys are grid, block"),
    ],
)  # fmt: skip
def test_each_mistake_is_reported_with_its_case(change, message):
    with pytest.raises(InvalidExerciseError) as raised:
        cases(CASE, {**CASE, **change})
    assert str(raised.value).startswith("Case 2 of the judge: ")
    assert message in str(raised.value)


@pytest.mark.parametrize("key", ["grid", "block", "arguments", "expected"])
def test_required_parts_of_a_case_are_reported(key):
    with pytest.raises(InvalidExerciseError, match=f"it has no '{key}'"):
        cases({k: v for k, v in CASE.items() if k != key})


def raising():
    yield CASE
    raise ValueError("odd")


def test_a_faulty_judge_is_reported_at_its_line():
    begin = raising.__code__.co_firstlineno
    with pytest.raises(InvalidExerciseError, match="The judge raised ValueError: odd") as raised:
        collect_cases(raising, KERNEL, __file__)
    assert raised.value.line == begin + 2
    with pytest.raises(InvalidExerciseError, match="yields no case"):
        cases()
    with pytest.raises(InvalidExerciseError, match="it is int, not a dict"):
        cases(3)
    with pytest.raises(InvalidExerciseError, match="not iterable"):
        collect_cases(lambda: None, KERNEL, __file__)
    with pytest.raises(InvalidExerciseError, match=f"more than {MAX_CASES} cases"):
        cases(*[CASE] * (MAX_CASES + 1))


# --- what a kernel left, against what is expected


def wrong(got, expected, tolerance=0.0, before=None):
    got, expected = np.array(got), np.array(expected)
    return wrong_argument(
        "out", np.full_like(got, 99) if before is None else np.array(before), got, expected, tolerance
    )


def test_results_within_the_tolerance_are_right():
    assert wrong([1.0, 2.0], [1.0, 2.5], 0.5) is None
    assert wrong([np.nan, np.inf], [np.nan, np.inf]) is None
    assert wrong([], []) is None


def test_wrong_elements_are_counted_and_the_first_is_named():
    results = wrong([[1.0, 2.0], [3.0, 0.0]], [[1.0, 2.5], [3.0, 4.0]])
    assert (results.differing, results.elements, results.index, results.got, results.expected) == (
        2,
        4,
        (0, 1),
        "2.0",
        "2.5",
    )
    assert results.largest_error == 4.0 and not results.untouched
    assert wrong([0.0], [1.0], before=[0.0]).untouched


def test_integers_are_compared_beyond_the_precision_of_floats():
    results = wrong([2**62 + 1, 5], [2**62, 5])
    assert (results.differing, results.got, results.largest_error) == (1, str(2**62 + 1), 1.0)
    assert wrong(np.array([255], np.uint8), [-1]).largest_error == 256


def test_nan_is_wrong_whatever_the_tolerance():
    results = wrong([np.nan, 1.0], [0.0, 1.0], 1e9)
    assert (results.index, results.got, results.largest_error) == ((0,), "nan", None)
    assert wrong([1 + 1j], [1 + 2j]).largest_error == 1.0
    assert wrong([np.inf], [-np.inf]).largest_error is None
