"""What has to be said for one picture to become another: values of a change's lines, by their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ....kernels.scenarios.catalogue import CatalogueError, find, settle
from ...model.bookmark import Bookmark, Setup
from ...model.setup_text import spec_of
from ...model.visible_text import visible
from ..changes import EditedKernel, Pane, ProgramLaunch, StepChange, look_said, merged, parse_change
from .source import EditError

Panes = tuple[Pane, ...]


def show_text(panes: Panes, folder: Path) -> str:
    """Return what `show:` says of these panes; raises EditError for what no lecture in this folder can name."""
    words = [_word(pane, folder) for pane in panes]
    for word in words:
        if len(word.split()) != 1:
            raise EditError(f"{visible(word)} has a space in it, which a step can't name; rename the file.")
    return " ".join(words)


def _word(pane: Pane, folder: Path) -> str:
    if isinstance(pane, ProgramLaunch):
        return pane.file if pane.launch == 1 else f"{pane.file}:launch={pane.launch}"
    if isinstance(pane, EditedKernel):
        return pane.spec
    if pane.source:
        raise EditError(
            f"The text of {pane.scenario or Path(pane.file).name} was edited; save the kernel beside the lecture first."
        )
    if not pane.file:
        try:
            return spec_of(pane)
        except CatalogueError as error:
            raise EditError(str(error)) from None
    name = visible(Path(pane.file).name)
    if pane.rerun or pane.is_edited:
        raise EditError(
            f"{name} is run otherwise than it was; save its trace beside the lecture and open that."
        )
    try:
        return Path(pane.file).absolute().relative_to(folder.absolute()).as_posix()
    except ValueError:
        raise EditError(
            f"{name} does not lie beside the lecture; save the trace in its folder first."
        ) from None


def same_panes(one: Panes, other: Panes) -> bool:
    """Return whether panes run the same, however many of their parameters are named."""
    return [_settled(pane) for pane in one] == [_settled(pane) for pane in other]


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


def same_look(one: Bookmark, other: Bookmark) -> bool:
    """Return whether nothing has to be said for a look to become another."""
    return not look_said(one, other) and one.spotlight == other.spotlight


def with_said(change: StepChange, said: Mapping[str, str], folder: Path) -> StepChange:
    """Return a change that says this too; raises EditError where it can't be read."""
    lines = [f"{key}: {value}" for key, value in said.items()]
    return merged(change, read_lines(lines, folder))


def read_lines(lines: Sequence[str], folder: Path) -> StepChange:
    """Return the change that lines describe; raises EditError with what is wrong with the first that can't be read."""
    change, problems = parse_change(dict(enumerate(lines, 1)), folder)
    if problems:
        raise EditError(problems[0][1])
    return change
