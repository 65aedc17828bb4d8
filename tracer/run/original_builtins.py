"""Python's original builtins, saved before a user's program could replace them."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

_originals = dict(vars(builtins))


@contextmanager
def original_builtins() -> Iterator[None]:
    """Restore the original builtins for our code; kernels use only the builtins that a GPU has."""
    current = vars(builtins)
    replaced = (
        {}
        if current == _originals
        else {name: value for name, value in current.items() if _originals.get(name, value) is not value}
    )
    for name in replaced:
        setattr(builtins, name, _originals[name])
    try:
        yield
    finally:
        for name, value in replaced.items():
            setattr(builtins, name, value)
