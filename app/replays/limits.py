"""The limits of a replay's page."""

from __future__ import annotations

from ..widgets.widget_picture import PictureError
from .document import ReplayDocument

ALL = 10_000  # moments up to which a launch named by the user is complete
MOST_MOMENTS, SECONDS = 40_000, 0.006  # moments of all tracks; seconds to draw one in two themes
LARGEST = 50_000_000  # bytes of a page


def check_moments(document: ReplayDocument, output: str) -> None:
    """Raise PictureError if a page would take minutes to draw."""
    if document.moments > MOST_MOMENTS:
        raise PictureError(
            f"{output} would have {document.moments:,} moments, about {document.moments * SECONDS / 60:.0f} minutes of "
            f"work. A page has at most {MOST_MOMENTS:,}: choose smaller launches, or shorter ranges."
        )


def check_bytes(page: bytes, output: str) -> None:
    """Raise PictureError if a page is too large."""
    if len(page) > LARGEST:
        raise PictureError(
            f"{output} would have {len(page) / 1e6:.0f} MB, which is too large for a page. "
            "Choose smaller launches, or fewer steps."
        )
