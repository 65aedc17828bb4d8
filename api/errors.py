"""What the public functions raise where there is nothing to look at, and what they warn of."""

from __future__ import annotations

from collections.abc import Sequence


class TilescopeError(Exception):
    """There is no trace, picture or window; the text is one sentence that says why and what to do."""

    __module__ = "tilescope"  # where users find it


class PartialLaunchWarning(UserWarning):
    """A launch was too large to be run whole: its arrays lack what the blocks that did not run would have written."""

    __module__ = "tilescope"  # where users find it


def refuse_unless(name: str, value: object, known: Sequence[str]) -> None:
    """Raise TilescopeError, which names the known words, for an argument that is none of them."""
    if value not in known:
        words = [repr(word) for word in known]
        listed = f"{', '.join(words[:-1])} or {words[-1]}"
        raise TilescopeError(f"{name} must be {listed}, not {value!r}.")
