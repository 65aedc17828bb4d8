"""The rules of kinds of numbers against Numba's own typing."""

from __future__ import annotations

import operator

import pytest
from numba import types
from numba.core.registry import cpu_target

import launching  # noqa: F401  # sets the environment, before numba is imported
from tilescope.tracer.simulator.arithmetic.kinds import KINDS, compared_as, result, unified

# CPUs have no float16; what Numba gives for a bool to the power of an int32, float32, is nobody's idea.
COMPARED = [kind for kind in KINDS if kind != "float16"]
OPERATORS = {
    "add": operator.add, "truediv": operator.truediv, "floordiv": operator.floordiv, "pow": operator.pow,
    "and": operator.and_, "rshift": operator.rshift,
}  # fmt: skip


def numba_type(kind):
    return types.boolean if kind == "bool" else getattr(types, kind)


def name(kind):
    return str(kind).replace("boolean", "bool")


@pytest.mark.parametrize("operation", OPERATORS)
def test_operations_give_the_kinds_that_numba_gives(operation):
    context = cpu_target.typing_context
    context.refresh()
    for a in COMPARED:
        for b in COMPARED:
            expected = result(operation, a, b)
            if expected is not None and (operation, a, b) != ("pow", "bool", "int32"):
                pair = numba_type(a), numba_type(b)
                found = context.resolve_function_type(OPERATORS[operation], pair, {})
                assert name(found.return_type) == expected, (a, b)


def test_variables_become_the_kinds_that_numba_unifies():
    context = cpu_target.typing_context
    for a in COMPARED:
        for b in COMPARED:
            assert name(context.unify_types(numba_type(a), numba_type(b))) == unified(a, b), (a, b)


def test_integers_are_compared_as_numba_compares_them():
    context = cpu_target.typing_context
    for a in COMPARED[:9]:
        for b in COMPARED[:9]:
            found = context.resolve_function_type(operator.lt, (numba_type(a), numba_type(b)), {})
            assert (name(found.args[0]) == "float64") == (compared_as(a, b) == "float64"), (a, b)
