"""The exceptions and warnings of the public functions."""

from __future__ import annotations

from collections.abc import Sequence


class TilescopeError(Exception):
    """There is no trace, picture or window; the text is one sentence with the reason and the remedy."""

    __module__ = "tilescope"  # where users find it


class PartialLaunchWarning(UserWarning):
    """A launch was too large to run completely: its arrays lack the results of the blocks that did not run."""

    __module__ = "tilescope"  # where users find it


def require_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise TilescopeError, which lists the choices, unless the value is one of them."""
    if value not in choices:
        words = [repr(word) for word in choices]
        listed = f"{', '.join(words[:-1])} or {words[-1]}"
        raise TilescopeError(f"{name} must be {listed}, not {value!r}.")
