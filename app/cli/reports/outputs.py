"""The outputs of one run of `check`: a format on standard output, and files in other formats."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO

from ....tracer.storage.atomic_write import write_atomically
from ..common.arguments import UsageError
from ..common.text_output import print_error
from .github import github
from .gitlab import gitlab
from .json_report import json_list, json_object
from .junit import junit
from .markdown import markdown
from .rdjson import rdjson
from .report import Report
from .text import concise, full


def _sarif(report: Report) -> str:
    from .sarif import sarif  # imports NumPy, which must not be imported before the program does

    return sarif(report)


FORMATS: dict[str, Callable[[Report], str]] = {
    "concise": concise, "full": full, "json": json_object, "github": github, "gitlab": gitlab, "junit": junit,
    "sarif": _sarif, "rdjson": rdjson, "markdown": markdown,
}  # fmt: skip
OLD_FORMATS: dict[str, Callable[[Report], str]] = {"text": concise, "json": json_list, "github": github}
FOR_PEOPLE = ("concise", "full", "text")  # formats that a terminal shows


class Output(NamedTuple):
    """One output of a run."""

    name: str  # of the format
    write: Callable[[Report], str]
    file: Path | None  # absolute; None for standard output


def output_format(text: str) -> Output:
    """Parse FORMAT or FORMAT=FILE."""
    name, equals, file = text.partition("=")
    if name not in FORMATS or (equals and not file):
        choices = ", ".join(FORMATS)
        raise ArgumentTypeError(f"must be one of {choices}, with =FILE for a file, not {text!r}")
    return Output(name, FORMATS[name], Path(file).absolute() if file else None)


def chosen_outputs(listed: Sequence[Output] | None, old: str | None) -> tuple[Output, ...]:
    """Return the outputs that the options name; raises UsageError if two go to one place.

    old: the value of --format, which has the JSON of the first version.
    """
    outputs = [*(listed or ()), *([Output(old, OLD_FORMATS[old], None)] if old else [])]
    if not any(output.file is None for output in outputs):
        outputs.insert(0, Output("concise", concise, None))
    places = [output.file for output in outputs]
    if len(set(places)) < len(places):
        raise UsageError(
            "two outputs go to one place; write one of them to a file: --output-format sarif=FILE."
        )
    return tuple(outputs)


def is_for_people(outputs: Sequence[Output]) -> bool:
    """Return True if standard output gets text for people."""
    return any(output.file is None and output.name in FOR_PEOPLE for output in outputs)


def write_outputs(report: Report, outputs: Sequence[Output], stream: TextIO) -> bool:
    """Write all outputs; return False, after a sentence on standard error, if a file can't be written."""
    is_written = True
    for output in outputs:
        text = output.write(report)
        if output.file is None:
            # A reader that stops early, or a closed output, does not change the status.
            with suppress(OSError, ValueError), stream:
                stream.write(text)
            continue
        try:
            write_atomically(output.file, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            print_error(f"can't write {output.file}: {error.strerror or error}; choose another path.")
            is_written = False
    return is_written
