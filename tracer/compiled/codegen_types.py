"""Types of Numba and LLVM in the signatures of functions that write code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from llvmlite import ir
from numba.core.base import BaseContext
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import Signature

__all__ = ["BaseContext", "Builder", "Intrinsic", "Signature", "TypingContext", "Value", "Values"]

Builder: TypeAlias = ir.IRBuilder
Value: TypeAlias = ir.Value
Values: TypeAlias = Sequence[ir.Value]
# What the typing function of an intrinsic returns: its signature and the function that writes its code, or None
# where the arguments don't suit it.
Intrinsic = tuple[Signature, Callable[..., Value]] | None
