"""How much a page of a replay may hold."""

from __future__ import annotations

from ...widgets.widget_picture import PictureError
from .document import ReplayDocument

ALL = 10_000  # moments of launches that are asked for by their names, up to which all are there
MOST_MOMENTS, SECONDS = 40_000, 0.006  # of all pictures; what one takes to be drawn in two themes
LARGEST = 50_000_000  # bytes of a page: more than a course puts on its site


def check_moments(document: ReplayDocument, output: str) -> None:
    """Raise PictureError for a page that would take minutes to draw, and longer to read."""
    if document.moments > MOST_MOMENTS:
        raise PictureError(
            f"{output} would have {document.moments:,} moments, about {document.moments * SECONDS / 60:.0f} minutes of "
            f"work; a page has at most {MOST_MOMENTS:,}: take smaller launches, or shorter pieces of playing."
        )


def check_bytes(page: bytes, output: str) -> None:
    """Raise PictureError for a page that is too large."""
    if len(page) > LARGEST:
        raise PictureError(
            f"{output} would have {len(page) / 1e6:.0f} MB, which is too much for a page; "
            "take smaller launches, or fewer steps."
        )
