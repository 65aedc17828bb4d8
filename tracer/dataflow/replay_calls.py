"""Functions of CUDA, Python and NumPy that a replayed thread calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..model.trace import COMPARED, VOTED_NO
from .carried import AccessPosition
from .replay_state import EXCHANGE, Pair, ReplayError, ReplayState
from .replay_values import FUNCTIONS, UNKNOWN, ArrayValue, computed, wrapped

REPLACING = ("exch",)  # atomics that do not keep a part of the old value
WITHOUT_RESULT = ("cuda.syncthreads", "cuda.syncwarp", "cuda.threadfence", "cuda.nanosleep", "print")
DECLARATIONS = ("cuda.shared.array", "cuda.local.array", "cuda.const.array_like")
Packer = Callable[[Sequence[Pair]], object]


def call_function(
    state: ReplayState,
    name: str,
    place: AccessPosition,
    given: list[Pair],
    named: Mapping[str, Pair],
    pack: Packer,
) -> Pair:
    """Replay a call of a function that the text does not define; `pack` makes a tuple."""
    if name.startswith("cuda.atomic."):
        return _atomic(state, name, place, [*given, *named.values()])
    if name in DECLARATIONS:
        return _declared(name, given, named), 0
    if name in ("cuda.grid", "cuda.gridsize"):
        return _grid(state, name, given, pack)
    if name.startswith(WITHOUT_RESULT) and not name.startswith("cuda.syncthreads_"):
        return None, 0
    if "shfl" in name or name.endswith("_sync"):
        return _exchange(state, name, place, given)
    if name == "range":
        return _range(given), _joined(state, given)
    if name == "len" and given:
        array = given[0][0]
        return (array.shape[0] if isinstance(array, ArrayValue) else _length(array)), 0
    if name == "cuda.selp" and len(given) == 3:
        if given[0][0] is UNKNOWN:
            raise ReplayError(f"the choice on line {place[0]} depends on a value that is not known")
        return given[1] if given[0][0] else given[2]
    joined = _joined(state, [*given, *named.values()])
    function = FUNCTIONS.get(name)
    values = [value for value, _ in given]
    if function is None or named or any(value is UNKNOWN for value in values):
        return UNKNOWN, joined
    return computed(function, *values), joined


def _joined(state: ReplayState, pairs: Sequence[Pair]) -> int:
    joined = 0
    for _, node in pairs:
        joined = state.flow.join(joined, node)
    return joined


def _length(value: object) -> object:
    return len(value) if isinstance(value, tuple) else UNKNOWN


def _range(given: list[Pair]) -> object:
    numbers = [value for value, _ in given]
    if not all(isinstance(number, int) for number in numbers):
        return UNKNOWN
    try:
        return range(*(int(number) for number in numbers if isinstance(number, int)))
    except (TypeError, ValueError):
        return UNKNOWN


def _declared(name: str, given: list[Pair], named: Mapping[str, Pair]) -> object:
    """Return the array that a declaration makes."""
    value, _ = given[0] if given else named.get("shape", (UNKNOWN, 0))
    if isinstance(value, ArrayValue):
        return value  # const.array_like
    if isinstance(value, tuple):
        return ArrayValue(tuple(length for length, _ in value))
    return ArrayValue((value,)) if isinstance(value, int) else UNKNOWN


def _grid(state: ReplayState, name: str, given: list[Pair], pack: Packer) -> Pair:
    position = state.position
    axes = "xyz"[: given[0][0]] if given and isinstance(given[0][0], int) else "x"
    if name == "cuda.grid":
        numbers = [
            position[f"blockIdx.{a}"] * position[f"blockDim.{a}"] + position[f"threadIdx.{a}"] for a in axes
        ]
    else:
        numbers = [position[f"gridDim.{a}"] * position[f"blockDim.{a}"] for a in axes]
    return (numbers[0] if len(numbers) == 1 else pack([(number, 0) for number in numbers])), 0


def _atomic(state: ReplayState, name: str, place: AccessPosition, given: list[Pair]) -> Pair:
    function = name.rpartition(".")[2]
    index = given[1][1] if len(given) > 2 and function != "compare_and_swap" else 0
    node = given[-1][1] if len(given) > 1 else 0
    return state.atomic(place, node, index, keeps_old=function not in REPLACING)


def _exchange(state: ReplayState, name: str, place: AccessPosition, given: list[Pair]) -> Pair:
    """Replay a shuffle, a vote or a match."""
    node = given[1][1] if len(given) > 1 else 0
    arrival, part, yes, no = state.exchanged(place, node)
    leaf = state.flow.leaf(EXCHANGE, arrival)
    if part < VOTED_NO or part == COMPARED:
        return UNKNOWN, leaf
    votes = {"ballot": wrapped(yes, 32, signed=True), "all": not no, "any": bool(yes), "eq": not (yes and no)}
    return next((votes[word] for word in votes if f".{word}" in name), UNKNOWN), leaf
