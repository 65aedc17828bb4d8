"""The state of a window: what it shows of its sessions. A bookmark is the part that is saved and restored."""

from __future__ import annotations

from ..model.bookmark import TABS, Bookmark

SIDE_SHARE = 2  # parts of the width for the inspector, where a pane has three
BOOKMARK_FIELDS = Bookmark.__struct_fields__


class WindowState(Bookmark, frozen=True):
    """Everything that a window shows, except sessions and sizes in pixels.

    The fields of a `Bookmark` are saved and restored. `panes` are those of the pictures, except while sessions are
    being loaded. There is a selection for each pane.
    """

    bar: bool = True  # whether the toolbar is shown in the ordinary layout
    lecture_bar: bool = False  # and in that of a lecture
    is_picture_only: bool = False  # whether only pictures and a lecture's caption are shown
    is_asking: bool = False  # whether a lecture asks, so that nothing may give away the answer
    tab_before_path: str = TABS[0]  # the inspector's tab before it showed the path of a value
    asks_compiler: bool = True  # whether "auto" shows compiled counters once they are known
    side_share: int = SIDE_SHARE  # parts of the width for the inspector

    def bookmark(self) -> Bookmark:
        """Return the part that is saved and restored."""
        return Bookmark(**{name: getattr(self, name) for name in BOOKMARK_FIELDS})

    @property
    def is_lecture(self) -> bool:
        """Whether the layout is that of a lecture."""
        return self.layout == "lecture"

    @property
    def shows_bar(self) -> bool:
        """Whether the toolbar is shown."""
        return (self.lecture_bar if self.is_lecture else self.bar) and not self.is_picture_only

    @property
    def compiled_here(self) -> str:
        """The choice about compiled counters; a window that does not ask the compiler hides them."""
        return "hidden" if self.compiled == "auto" and not self.asks_compiler else self.compiled

    @property
    def shows_fates(self) -> bool:
        """Whether the source shows what the compiler did with each access."""
        return self.compiled_here != "hidden" and not self.is_asking


FIRST_STATE = WindowState(panes=())
