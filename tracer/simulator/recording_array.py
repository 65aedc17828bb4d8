"""Recording arrays, which replace the arrays of a traced kernel, and the atomics on them.

Every element access of `RecordingArray` ends the thread's turn (if threads interleave), accesses the memory, and is
added to the recorder's log with its instruction. `__getitem__` and `__setitem__` are the hot path of a common access,
so they call none of our functions.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model.trace import Op, poison
from ..model.user_code import UserCode
from ..recording.fixed_width_ints import computable_elements
from ..recording.out_of_bounds import MisalignedAddressError, check_address, element_name
from ..recording.recorder import CHUNK, FIELDS
from .allocation import Allocation, convert_to_element, end_turn, name_of
from .arithmetic.conversions import TYPE_OF_KIND, caster
from .scheduler import Scheduler

FULL = CHUNK * FIELDS  # length of a log that must be flushed
MAX_LIST = 4096  # offsets; a list is faster to look up than a range, but takes more memory
_frame = sys._getframe


class OutOfBounds(IndexError):
    """An index outside its array: (the index it would have in memory, the element's name)."""

    def __init__(self, cell: int, text: str) -> None:
        super().__init__(f"{text} is outside its array")
        self.cell, self.text = cell, text


class RecordingArray:
    """An array, or a view into one, whose element accesses are recorded."""

    __slots__ = (
        "_ary",
        "_cols",
        "_extend",
        "_is_2d",
        "_load",
        "_log",
        "_memory",
        "_origin",
        "_rows",
        "_scheduler",
        "_store",
        "_strides",
        "_user_code",
        "_values",
    )  # fmt: skip
    _ary: NDArray[Any]
    _cols: Any
    _extend: Callable[[tuple[Any, ...]], None]
    _load: int
    _log: list[Any]
    _memory: Allocation
    _origin: int
    _rows: Any
    _scheduler: Scheduler
    _store: int
    _strides: tuple[int, ...]
    _is_2d: bool
    _user_code: UserCode
    _values: Any

    def __init__(self, ary: NDArray[Any], memory: Allocation) -> None:
        set_slot = object.__setattr__  # RecordArray's __setattr__ would store to a field
        unit = memory.unit
        origin = (ary.__array_interface__["data"][0] - memory.start) // unit if ary.size else 0
        origin += memory.shift
        strides = tuple(stride // unit for stride in ary.strides)
        is_simple = 0 < ary.ndim < 3 and ary.dtype.names is None and not memory.is_outside
        offsets = [_offsets(n, s) for n, s in zip(ary.shape, strides, strict=True)] if is_simple else []
        for name, value in (
            ("_ary", ary), ("_memory", memory), ("_values", memory.values), ("_scheduler", memory.scheduler),
            ("_log", memory.recorder.log), ("_extend", memory.recorder.log.extend),
            ("_load", memory.buffer * 4 + Op.LOAD), ("_store", memory.buffer * 4 + Op.STORE),
            ("_origin", origin), ("_strides", strides), ("_is_2d", len(offsets) == 2),
            ("_rows", _shift(offsets[0], origin) if offsets else None),
            ("_cols", offsets[1] if len(offsets) == 2 else None), ("_user_code", memory.scheduler.user_code),
        ):  # fmt: skip
            set_slot(self, name, value)

    def __getitem__(self, index: Any) -> Any:
        try:
            if self._is_2d:
                row, column = index
                cell = self._rows[row] + self._cols[column]
            else:
                cell = self._rows[index] + 0
        except (TypeError, ValueError, IndexError):
            return self._get(index, _frame(1))
        scheduler = self._scheduler
        me = scheduler.current
        if scheduler.interleaved:
            scheduler.current = other = me.next
            other.switch()
        value = self._values[cell]
        frame = _frame(1)
        code = self._user_code.code
        if frame.f_code is code:
            self._extend((me.context, self._load, code, frame.f_lasti, cell, value))
        else:
            self._extend((me.context, self._load, *self._user_code.locate(frame), cell, value))
        if len(self._log) >= FULL:
            scheduler.recorder.flush()
        return value

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            if self._is_2d:
                row, column = index
                cell = self._rows[row] + self._cols[column]
            else:
                cell = self._rows[index] + 0
        except (TypeError, ValueError, IndexError):
            self._set(index, value, _frame(1))
            return
        scheduler = self._scheduler
        me = scheduler.current
        if scheduler.interleaved:
            scheduler.current = other = me.next
            other.switch()
        values = self._values
        try:
            values[cell] = value
        except (OverflowError, ValueError, TypeError):
            values[cell] = convert_to_element(value, self._memory.cells.dtype)
        frame = _frame(1)
        code = self._user_code.code
        if frame.f_code is code:
            self._extend((me.context, self._store, code, frame.f_lasti, cell, values[cell]))
        else:
            self._extend((me.context, self._store, *self._user_code.locate(frame), cell, values[cell]))
        if len(self._log) >= FULL:
            scheduler.recorder.flush()

    def load(self, cell: int, frame: FrameType) -> Any:
        """Load the element at an index of the memory, for an instruction of `frame`."""
        me = end_turn(self._scheduler)
        value = self._values[cell]
        self._extend((me.context, self._load, *self._user_code.locate(frame), cell, value))
        self._flush_if_full()
        return value

    def store(self, cell: int, value: Any, frame: FrameType) -> None:
        """Store to an index of the memory; numbers that don't fit wrap, as on the GPU."""
        me = end_turn(self._scheduler)
        self._values[cell] = convert_to_element(value, self._memory.cells.dtype)
        self._extend((me.context, self._store, *self._user_code.locate(frame), cell, self._values[cell]))
        self._flush_if_full()

    def _flush_if_full(self) -> None:
        if len(self._log) >= FULL:
            self._scheduler.recorder.flush()

    def cell(self, index: Any) -> int:
        """Return the index in memory of one element; raises OutOfBounds outside the array."""
        parts = tuple(map(operator.index, _parts(index)))
        shape = self._ary.shape
        if len(parts) != len(shape):
            raise IndexError(f"{len(parts)} indices for the {len(shape)} dimensions of {self._name}")
        is_inside = all(-n <= i < n for i, n in zip(parts, shape, strict=True))
        # A negative index wraps once, as in Python: Numba compiles that rule for the GPU too.
        wrapped = [i + n if i < 0 else i for i, n in zip(parts, shape, strict=True)]
        cell: int = self._origin + sum(map(operator.mul, wrapped, self._strides))
        if self._memory.is_outside or not is_inside:
            raise OutOfBounds(
                cell, element_name(self._memory.recorder.buffers[self._memory.buffer], parts, cell)
            )
        return cell

    def record_out_of_bounds(self, access: OutOfBounds, op: Op, frame: FrameType) -> Any:
        """Record a skipped access outside the array, and return the poison that a load gives."""
        me = end_turn(self._scheduler)
        coded = self._memory.buffer * 4 + op
        self._memory.recorder.record_out_of_bounds(
            me.context, coded, *self._user_code.locate(frame), access.cell, access.text
        )
        check_address(self._memory.recorder.buffers, self._memory.buffer, access.cell, access.text)
        value = poison(self._memory.cells.dtype)
        return computable_elements(np.array([value]))[0]

    @property
    def _name(self) -> str:
        return self._memory.recorder.buffers[self._memory.buffer].name

    def _get(self, index: Any, frame: FrameType) -> Any:
        if self._ary.ndim == 0 and self._ary.dtype.names and isinstance(index, int):
            index = self._ary.dtype.names[index]
        if isinstance(index, str):
            return self._field(index, frame)
        if _is_element(index, self._ary.ndim) and self._ary.dtype.names is None:
            return self._load_at(index, frame)
        return self._view(index)

    def _view(self, index: Any) -> RecordingArray:
        """Return a view; if it begins outside the array, all accesses through it count as outside."""
        parts = index if isinstance(index, tuple) else (index,)
        shape, inner, shift, is_outside = list(self._ary.shape), list(parts), 0, False
        for axis, (part, length) in enumerate(zip(parts, shape, strict=False)):
            if part is None or part is Ellipsis:
                break  # later parts belong to other axes
            if _is_number(part) and not -length <= (number := operator.index(part)) < length:
                shift += (number + length if number < 0 else number) * self._strides[axis]
                shape[axis], inner[axis] = 1, 0
                is_outside = True
        ellipsis = (
            () if any(part is Ellipsis for part in parts) else (...,)
        )  # otherwise a record would be copied
        if not is_outside:
            return recording(self._ary[(*parts, *ellipsis)], self._memory)
        view = np.lib.stride_tricks.as_strided(self._ary, shape, self._ary.strides)
        return recording(view[(*inner, *ellipsis)], self._memory.shifted_outside(shift))

    def _load_at(self, index: Any, frame: FrameType) -> Any:
        """Load one element; outside the array, record that and return poison."""
        try:
            cell = self.cell(index)
        except OutOfBounds as access:
            return self.record_out_of_bounds(access, Op.LOAD, frame)
        return self.load(cell, frame)

    def _store_at(self, index: Any, value: Any, frame: FrameType) -> None:
        """Store to one element; outside the array, only record that."""
        try:
            self.store(self.cell(index), value, frame)
        except OutOfBounds as access:
            self.record_out_of_bounds(access, Op.STORE, frame)

    def _set(self, index: Any, value: Any, frame: FrameType) -> None:
        if isinstance(index, str):
            self._field_view(index)._fill(value, frame)
        elif _is_element(index, self._ary.ndim) and self._ary.dtype.names is None:
            self._store_at(index, value, frame)
        else:
            self._get(index, frame)._fill(value, frame)

    def _fill(self, value: Any, frame: FrameType) -> None:
        """Store to every element, as an assignment to a slice or a record does."""
        names = self._ary.dtype.names
        if names is not None:
            for position, name in enumerate(names):
                part = value._field(name, frame) if isinstance(value, RecordingArray) else value[position]
                self._field_view(name)._fill(part, frame)
            return
        values = value.loaded(frame) if isinstance(value, RecordingArray) else np.asarray(value)
        spread = np.broadcast_to(values, self._ary.shape)
        for index in np.ndindex(self._ary.shape):
            self._store_at(index, spread[index], frame)

    def loaded(self, frame: FrameType) -> NDArray[Any]:
        """Load every element and return the values."""
        values = np.empty(self._ary.shape, self._ary.dtype)
        for index in np.ndindex(self._ary.shape):
            values[index] = self._load_at(index, frame)
        return values

    def _field(self, name: str, frame: FrameType) -> Any:
        view = self._field_view(name)
        is_number = view._ary.ndim == 0 and view._ary.dtype.names is None
        return view._load_at((), frame) if is_number else view

    def _field_view(self, name: str) -> RecordingArray:
        return recording(self._ary[name], self._memory.field(name))

    shape = property(attrgetter("_ary.shape"), doc="Elements along each dimension.")
    strides = property(
        attrgetter("_ary.strides"), doc="Bytes from an element to the next, along each dimension."
    )
    dtype = property(attrgetter("_ary.dtype"), doc="The element type.")
    ndim = property(attrgetter("_ary.ndim"), doc="Number of dimensions.")
    size = property(attrgetter("_ary.size"), doc="Number of elements.")
    itemsize = property(attrgetter("_ary.itemsize"), doc="Bytes of one element.")
    nbytes = property(attrgetter("_ary.nbytes"), doc="Bytes of all elements.")

    @property
    def real(self) -> RecordingArray:
        """The real parts: a view, and for real numbers the array itself."""
        return self._component("real") if self._ary.dtype.kind == "c" else self

    @property
    def imag(self) -> RecordingArray:
        """The imaginary parts of complex numbers, as a view."""
        return self._component("imag")

    def _component(self, name: str) -> RecordingArray:
        return RecordingArray(getattr(self._ary, name), self._memory.component(name))

    @property
    def T(self) -> RecordingArray:  # NumPy's name
        """The transpose."""
        return self.transpose()

    def transpose(self, *axes: int) -> RecordingArray:
        """Return a view with its axes permuted."""
        return recording(self._ary.transpose(*axes), self._memory)

    def reshape(self, *shape: Any) -> RecordingArray:
        """Return a view of another shape; raises ValueError if that needs a copy."""
        view = self._ary.reshape(*shape)
        if view.size and not np.shares_memory(view, self._ary):
            raise ValueError(f"reshape of {self._name} needs a copy, which a kernel can't make")
        return recording(view, self._memory)

    def ravel(self) -> RecordingArray:
        """Return a one-dimensional view."""
        return self.reshape(-1)

    def view(self, dtype: Any) -> RecordingArray:
        """View the same bytes as another dtype: another buffer at the same address.

        Raises MisalignedAddressError if a GPU could not load the elements.
        """
        # Numba's types have NumPy's names.
        viewed_dtype = np.dtype(dtype if isinstance(dtype, type | np.dtype | str) else str(dtype))
        memory, size = self._memory, viewed_dtype.itemsize
        offset = self._origin * memory.unit
        if memory.is_aligned and self._ary.size and offset % size:
            raise MisalignedAddressError(
                f"{self._name}, viewed as {viewed_dtype} from byte {offset} on, has elements at addresses that are not "
                f"multiples of {size}: a misaligned address, which ends the launch"
            )
        return alias(self._ary.view(viewed_dtype), self._memory)

    def __len__(self) -> int:
        return len(self._ary)

    def __iter__(self) -> Iterator[Any]:
        return _Elements(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        frame = _frame(1)
        values = [item.loaded(frame) if isinstance(item, RecordingArray) else item for item in inputs]
        out = options.pop("out", ())
        result = getattr(ufunc, method)(*values, **options)
        for target, value in zip(out, result if isinstance(result, tuple) else (result,), strict=False):
            target._fill(value, frame)
        return out[0] if out else result


class RecordArray(RecordingArray):
    """An array of records, whose fields are attributes too.

    It is a separate class, because `__getattr__` makes every attribute look-up of a class slower.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name not in (self._ary.dtype.names or ()):
            raise AttributeError(f"{self._name} has no field {name}")
        return self._field(name, _frame(1))

    def __setattr__(self, name: str, value: Any) -> None:
        self._field_view(name)._fill(value, _frame(1))


class Record(RecordArray):
    """One record; a field's name may be the same as an array's attribute: `T`, `size`, `load`."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        if name[0] != "_" and name in (self._ary.dtype.names or ()):
            return self._field(name, _frame(1))
        return super().__getattribute__(name)


def _offsets(length: int, stride: int) -> Sequence[int]:
    """List the offset of each index of a dimension; look-ups wrap and raise like Python's."""
    offsets = range(0, length * stride, stride) if stride else [0] * length
    return list(offsets) if length <= MAX_LIST else offsets


def _shift(offsets: Sequence[int], origin: int) -> Sequence[int]:
    """Shift offsets by the origin; the result is a tuple or range, to which adding a slice of columns fails."""
    if isinstance(offsets, range):
        return range(offsets.start + origin, offsets.stop + origin, offsets.step)
    return tuple(offset + origin for offset in offsets)


def _is_element(index: Any, dimensions: int) -> bool:
    """Check whether an index selects one element rather than a slice."""
    parts = _parts(index)
    return len(parts) == dimensions and all(map(_is_number, parts))


def _parts(index: Any) -> tuple[Any, ...]:
    """Return the parts of an index; an ellipsis next to numbers for all axes is dropped."""
    parts = index if isinstance(index, tuple) else (index,)
    others = tuple(part for part in parts if part is not Ellipsis)
    return others if all(map(_is_number, others)) and others else parts


def _is_number(part: Any) -> bool:
    return hasattr(part, "__index__") and np.ndim(part) == 0


def recording(ary: NDArray[Any], memory: Allocation) -> RecordingArray:
    """Return a recording array over a memory or a view of it."""
    if ary.dtype.names is None:
        return RecordingArray(ary, memory)
    return (RecordArray if ary.ndim else Record)(ary, memory)


class _Elements:
    """An iterator over an array; its loads are attributed to the `for` statement."""

    def __init__(self, array: RecordingArray) -> None:
        self.array, self.next_index = array, 0

    def __iter__(self) -> _Elements:
        return self

    def __next__(self) -> Any:
        if self.next_index >= len(self.array):
            raise StopIteration
        self.next_index += 1
        return self.array._get(self.next_index - 1, _frame(1))


def alias(view: NDArray[Any], memory: Allocation) -> RecordingArray:
    """Return an array over the bytes of `memory`, viewed as another dtype."""
    recorder = memory.recorder
    key = f"view {view.dtype.str}"
    if key in memory.fields:
        return recording(view, memory.fields[key])
    buffer = recorder.buffers[memory.buffer].viewed_as(view.dtype, len(memory.cells) * memory.unit)
    return recording(view, memory.part(key, np.ndarray(buffer.size, view.dtype, memory.cells), buffer))


def _update(
    array: RecordingArray, index: Any, change: Callable[..., Any], frame: FrameType, *operands: Any
) -> Any:
    """Replace one element by `change(element, *operands)`; the operands are converted to its type first.

    Returns the old value. If `change` returns None, the element is unchanged.
    """
    try:
        if array._is_2d:
            row, column = index
            cell = array._rows[row] + array._cols[column]
        else:
            cell = array._rows[index] + 0
    except (TypeError, ValueError, IndexError):
        try:
            cell = array.cell(index)
        except OutOfBounds as access:
            return array.record_out_of_bounds(access, Op.ATOMIC, frame)
    me = end_turn(array._scheduler)
    values, memory = array._values, array._memory
    old = values[cell]
    kind = name_of(memory.cells.dtype)
    new = change(old, *(map(caster(kind), operands) if kind in TYPE_OF_KIND else operands))
    if new is not None:
        try:
            values[cell] = new
        except (OverflowError, ValueError, TypeError):
            values[cell] = convert_to_element(new, memory.cells.dtype)
    code = array._user_code.code
    if frame.f_code is code:
        array._extend((me.context, memory.atomic, code, frame.f_lasti, cell, values[cell]))
    else:
        array._extend((me.context, memory.atomic, *array._user_code.locate(frame), cell, values[cell]))
    array._flush_if_full()
    return old


class Atomic:
    """The functions of `cuda.atomic`, which behave as on a GPU."""

    def add(self, array: Any, index: Any, value: Any) -> Any:
        """Add a value."""
        return _update(array, index, lambda old, value: _as_python(old) + value, _frame(1), value)

    def sub(self, array: Any, index: Any, value: Any) -> Any:
        """Subtract a value."""
        return _update(array, index, lambda old, value: _as_python(old) - value, _frame(1), value)

    def and_(self, array: Any, index: Any, value: Any) -> Any:
        """Compute the bitwise and."""
        return _update(array, index, lambda old, value: int(old) & int(value), _frame(1), value)

    def or_(self, array: Any, index: Any, value: Any) -> Any:
        """Compute the bitwise or."""
        return _update(array, index, lambda old, value: int(old) | int(value), _frame(1), value)

    def xor(self, array: Any, index: Any, value: Any) -> Any:
        """Compute the bitwise exclusive or."""
        return _update(array, index, lambda old, value: int(old) ^ int(value), _frame(1), value)

    def inc(self, array: Any, index: Any, value: Any) -> Any:
        """Count up; after `value`, start again at 0."""
        return _update(array, index, lambda old, value: 0 if old >= value else int(old) + 1, _frame(1), value)

    def dec(self, array: Any, index: Any, value: Any) -> Any:
        """Count down; after 0, or from above `value`, start again at `value`."""
        return _update(
            array,
            index,
            lambda old, value: value if old == 0 or old > value else int(old) - 1,
            _frame(1),
            value,
        )

    def exch(self, array: Any, index: Any, value: Any) -> Any:
        """Exchange the value."""
        return _update(array, index, lambda old, value: value, _frame(1), value)

    def max(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; a nan in memory stays, a nan given changes nothing."""
        return _update(array, index, lambda old, value: value if value > old else old, _frame(1), value)

    def min(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; a nan in memory stays, a nan given changes nothing."""
        return _update(array, index, lambda old, value: value if value < old else old, _frame(1), value)

    def nanmax(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the larger; a number wins over a nan."""
        return _update(array, index, lambda old, value: np.fmax(old, value), _frame(1), value)

    def nanmin(self, array: Any, index: Any, value: Any) -> Any:
        """Keep the smaller; a number wins over a nan."""
        return _update(array, index, lambda old, value: np.fmin(old, value), _frame(1), value)

    def compare_and_swap(self, array: Any, old: Any, value: Any) -> Any:
        """Replace the first element if it equals `old`."""
        first = (0,) * array.ndim
        return _update(
            array, first, lambda current, old, value: value if current == old else None, _frame(1), old, value
        )

    def cas(self, array: Any, index: Any, old: Any, value: Any) -> Any:
        """Replace the element if it equals `old`."""
        return _update(
            array, index, lambda current, old, value: value if current == old else None, _frame(1), old, value
        )


def _as_python(value: Any) -> Any:
    """Convert NumPy integers to Python's, which don't overflow before wrapping; leave other values unchanged."""
    return int(value) if isinstance(value, np.integer) else value
