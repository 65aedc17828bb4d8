"""Python's builtins as they were before a user's program began, which may have put others in their place."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

_own = dict(vars(builtins))


@contextmanager
def own_builtins() -> Iterator[None]:
    """Have our own code find the builtins that it was written for; a kernel finds none but those on a GPU either."""
    now = vars(builtins)
    theirs = (
        {}
        if now == _own
        else {name: value for name, value in now.items() if _own.get(name, value) is not value}
    )
    for name in theirs:
        setattr(builtins, name, _own[name])
    try:
        yield
    finally:
        for name, value in theirs.items():
            setattr(builtins, name, value)
