"""Shared parts of the command line: the parser, types of arguments, scenarios, and the look of pictures."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NoReturn

from ....kernels.scenarios.suggestions import did_you_mean, near_words
from ....tracer.model.integers import parse_integer
from ...model.named_file import is_file


class UsageError(Exception):
    """A command line that can't be used; the text is one sentence."""


class Parser(ArgumentParser):
    """A parser that raises its errors, so that `main` prints them."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message.removesuffix('.')}; see {self.prog} --help.")

    def parse_args(  # type: ignore[override]  # the namespace type differs
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        """Parse the options and arguments; raises UsageError, which suggests similar options."""
        chosen, unknown = self.parse_known_args(args, namespace)
        if unknown:
            options = [option for option in self._option_string_actions if option.startswith("--")]
            near = near_words(unknown[0].partition("=")[0], options) if unknown[0].startswith("-") else []
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return chosen


def missing_file_text(name: str) -> str:
    """Describe a missing file in a sentence, with similar names in its folder."""
    path = Path(name)
    try:
        near = near_words(path.name, [other.name for other in path.parent.iterdir() if other.is_file()])
    except OSError:
        near = []
    hint = did_you_mean(path.name, near) if near else "; check its name and folder."
    return f"there is no file {name}{hint}"


def non_negative_integer(text: str) -> int:
    """Parse an integer from 0 on."""
    number = parse_integer(text)
    if number is None:
        raise ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return number


def positive_integer(text: str) -> int:
    """Parse an integer from 1 on."""
    number = parse_integer(text)
    if not number:
        raise ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return number


def number_between(low: float, high: float) -> Callable[[str], float]:
    """Return the argument type of numbers from `low` to `high`."""

    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise ArgumentTypeError(f"must be a number from {low} to {high}, not {text!r}")
        return value

    return number


def positive_seconds(text: str) -> float:
    """Parse a number of seconds above 0."""
    return number_between(0.001, 1_000_000)(text)


def block_numbers(text: str) -> tuple[int, ...]:
    """Parse the numbers in `0,5` or `0+5`, sorted and without duplicates."""
    numbers = [parse_integer(part) for part in text.replace("+", ",").split(",")]
    values = {number for number in numbers if number is not None}
    if None in numbers:
        raise ArgumentTypeError(f"must be block numbers such as 0,5, not {text!r}")
    return tuple(sorted(values))


def blocks_or_all(text: str) -> tuple[int, ...] | Literal["all"]:
    """Parse block numbers as `block_numbers` does, or the word all."""
    return "all" if text == "all" else block_numbers(text)


def picture_size(limit: int) -> Callable[[str], tuple[int, int]]:
    """Return the argument type of WIDTHxHEIGHT, each 320 to `limit`."""

    def size(text: str) -> tuple[int, int]:
        width, height = (parse_integer(part) or 0 for part in text.partition("x")[::2])
        if not (320 <= width <= limit and 320 <= height <= limit):
            raise ArgumentTypeError(f"must be WIDTHxHEIGHT, each 320 to {limit}, not {text!r}")
        return width, height

    return size


def add_scenarios(parser: Parser, number: Literal["*", "+"]) -> None:
    """Add `scenario`: one or two, or a trace file; `check_scenarios` checks them."""
    text = "a name such as matmul-tiled:m=64,tile=16 (see tilescope list), or one trace file"
    parser.add_argument("scenario", nargs=number, help=text)


def check_scenarios(specs: Sequence[str]) -> None:
    """Raise UsageError, CatalogueError or PlanError for specs that can't be shown: a file, or one or two scenarios."""
    if _is_file(specs):
        return
    from ....tracer.model.plan import launch_of, parse_spec

    if len(specs) > 2:
        raise UsageError(f"at most two scenarios can be compared, not {len(specs)}.")
    for spec in specs:
        scenario, values, options = parse_spec(spec)
        launch_of(scenario, values, **options)


def check_panes(specs: Sequence[str]) -> None:
    """Raise UsageError, CatalogueError or PlanError unless specs are one or two files or scenarios to show."""
    from ....tracer.model.plan import parse_file_spec
    from ...model.first_bookmark import names_file

    if len(specs) > 2:
        raise UsageError(f"at most two can be compared, not {len(specs)}.")
    for spec in specs:
        if names_file(spec):
            path = parse_file_spec(spec)[0]
            if not is_file(path):
                raise UsageError(missing_file_text(path))
        else:
            check_scenarios([spec])


def _is_file(specs: Sequence[str]) -> bool:
    """Check whether a trace file is named; raises UsageError if it is missing or not the only argument."""
    from ....tracer.model.plan import parse_file_spec
    from ...model.first_bookmark import names_file

    files = [parse_file_spec(spec)[0] for spec in specs if names_file(spec)]
    if files and len(specs) > 1:
        raise UsageError(f"the trace file {files[0]} must be the only argument; leave the others out.")
    if files and not is_file(files[0]):
        raise UsageError(missing_file_text(files[0]))
    return bool(files)


def add_look(parser: Parser) -> None:
    """Add the options for the look of pictures: `theme`, `size` in points, `scale` and `text_size`."""
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument(
        "--size", type=picture_size(8192), default=(1600, 900), metavar="1600x900", help="of the window"
    )
    parser.add_argument(
        "--scale", type=number_between(0.5, 4), default=1.0, metavar="2", help="pixels a point, 0.5 to 4"
    )
    parser.add_argument(
        "--text-size",
        type=number_between(0.8, 2),
        default=1.0,
        metavar="1.0",
        help="0.8 to 2 times the normal size",
    )
