"""Serialise panes and looks as the lines of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from .....kernels.scenarios.catalogue import CatalogueError, find, settle
from ....model.bookmark import Bookmark, Setup
from ....model.setup_text import spec_of
from ....model.visible_text import escape_controls
from ..changes import EditedKernel, Pane, ProgramLaunch, StepChange, look_lines, merge_changes, parse_change
from .source import EditError

Panes = tuple[Pane, ...]


def show_text(panes: Panes, folder: Path) -> str:
    """Format panes for `show:`; raises EditError for panes that no lecture in this folder can name."""
    words = [_word(pane, folder) for pane in panes]
    for word in words:
        if len(word.split()) != 1:
            raise EditError(
                f"{escape_controls(word)} contains a space, which a step can't name; rename the file."
            )
    return " ".join(words)


def _word(pane: Pane, folder: Path) -> str:
    if isinstance(pane, ProgramLaunch):
        return pane.file if pane.launch == 1 else f"{pane.file}:launch={pane.launch}"
    if isinstance(pane, EditedKernel):
        return pane.spec
    if pane.source:
        raise EditError(
            f"The text of {pane.scenario or Path(pane.file).name} was edited; save it in the lecture's folder first."
        )
    if not pane.file:
        try:
            return spec_of(pane)
        except CatalogueError as error:
            raise EditError(str(error)) from None
    name = escape_controls(Path(pane.file).name)
    if pane.rerun or pane.is_edited:
        raise EditError(
            f"{name} runs with other options; save its trace in the lecture's folder and open that."
        )
    try:
        return Path(pane.file).absolute().relative_to(folder.absolute()).as_posix()
    except ValueError:
        raise EditError(f"{name} is not in the lecture's folder; save the trace there first.") from None


def same_panes(first: Panes, second: Panes) -> bool:
    """Check whether panes run the same, whether or not default parameters are named."""
    return [_settled(pane) for pane in first] == [_settled(pane) for pane in second]


def _settled(pane: Pane) -> Pane:
    if not isinstance(pane, Setup):
        return pane
    if pane.file:
        return pane if pane.rerun or pane.is_edited else Setup(file=pane.file)
    try:
        values = dict(settle(find(pane.scenario), pane.values))
    except CatalogueError:
        return pane
    return msgspec.structs.replace(pane, values=values, cut=False)


def same_look(first: Bookmark, second: Bookmark) -> bool:
    """Check whether two looks need no lines to become each other."""
    return not look_lines(first, second) and (first.spotlight, first.traced) == (
        second.spotlight,
        second.traced,
    )


def with_lines_merged(change: StepChange, values: Mapping[str, str], folder: Path) -> StepChange:
    """Add these values to a change; raises EditError if they can't be read."""
    lines = [f"{key}: {value}" for key, value in values.items()]
    return merge_changes(change, read_lines(lines, folder))


def read_lines(lines: Sequence[str], folder: Path) -> StepChange:
    """Parse lines of a change; raises EditError with the first problem."""
    change, problems = parse_change(dict(enumerate(lines, 1)), folder)
    if problems:
        raise EditError(problems[0][1])
    return change
