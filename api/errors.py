"""What the public functions raise where there is nothing to look at, and what they warn of."""

from __future__ import annotations


class TilescopeError(Exception):
    """There is no trace, picture or window; the text is one sentence that says why and what to do."""

    __module__ = "tilescope"  # where users find it


class PartialLaunchWarning(UserWarning):
    """A launch was too large to be run whole: its arrays lack what the blocks that did not run would have written."""

    __module__ = "tilescope"  # where users find it
