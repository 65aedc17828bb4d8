"""What commands share of the command line: the parser, types of arguments, scenarios, and the look of pictures."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NoReturn

from ....kernels.scenarios.suggestions import did_you_mean, near_words
from ....tracer.model.whole_numbers import whole_number_of
from ...model.named_file import is_file


class UsageError(Exception):
    """A command line that can't be followed; the text is one sentence."""


class Parser(ArgumentParser):
    """A parser that leaves the last word on an error to `main`."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help.")

    def parse_args(  # type: ignore[override]  # into a namespace of its own
        self, args: Sequence[str] | None = None, namespace: Namespace | None = None
    ) -> Namespace:
        """Return the options and arguments; raises UsageError, which names the option that was perhaps meant."""
        chosen, unknown = self.parse_known_args(args, namespace)
        if unknown:
            options = [option for option in self._option_string_actions if option.startswith("--")]
            near = near_words(unknown[0].partition("=")[0], options) if unknown[0].startswith("-") else []
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return chosen


def no_file(name: str) -> str:
    """Return a sentence about a file that is missing, with the names next to it that are like its name."""
    path = Path(name)
    try:
        near = near_words(path.name, [other.name for other in path.parent.iterdir() if other.is_file()])
    except OSError:
        near = []
    hint = did_you_mean(path.name, near) if near else "; check its name and folder."
    return f"there is no file {name}{hint}"


def whole_number(text: str) -> int:
    """Return a whole number from 0 on."""
    number = whole_number_of(text)
    if number is None:
        raise ArgumentTypeError(f"must be a whole number from 0 on, not {text!r}")
    return number


def positive_number(text: str) -> int:
    """Return a whole number from 1 on."""
    number = whole_number_of(text)
    if not number:
        raise ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")
    return number


def number_between(low: float, high: float) -> Callable[[str], float]:
    """Return the type of numbers from `low` to `high`."""

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
    """Return a number of seconds above 0."""
    return number_between(0.001, 1_000_000)(text)


def block_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers in `0,5` or `0+5`, in their order and each once."""
    numbers = [whole_number_of(part) for part in text.replace("+", ",").split(",")]
    known = {number for number in numbers if number is not None}
    if None in numbers:
        raise ArgumentTypeError(f"must be block numbers as 0,5, not {text!r}")
    return tuple(sorted(known))


def blocks_or_all(text: str) -> tuple[int, ...] | Literal["all"]:
    """Return block numbers as `block_numbers` does, or the word all."""
    return "all" if text == "all" else block_numbers(text)


def picture_size(most: int) -> Callable[[str], tuple[int, int]]:
    """Return the type of WIDTHxHEIGHT, each 320 to `most`."""

    def size(text: str) -> tuple[int, int]:
        width, height = (whole_number_of(part) or 0 for part in text.partition("x")[::2])
        if not (320 <= width <= most and 320 <= height <= most):
            raise ArgumentTypeError(f"must be WIDTHxHEIGHT, each 320 to {most}, not {text!r}")
        return width, height

    return size


def add_scenarios(parser: Parser, number: Literal["*", "+"]) -> None:
    """Add `scenario`: one or two, or a trace file; check_scenarios looks at them."""
    text = "as matmul-tiled:m=64,tile=16 (tilescope list names them all), or one trace file"
    parser.add_argument("scenario", nargs=number, help=text)


def check_scenarios(specs: Sequence[str]) -> None:
    """Raise UsageError, CatalogueError or PlanError for what can't be shown: a file, or one or two scenarios."""
    if _is_file(specs):
        return
    from ....tracer.model.plan import launch_of, parse_spec

    if len(specs) > 2:
        raise UsageError(f"two scenarios are compared, not {len(specs)}.")
    for spec in specs:
        scenario, values, options = parse_spec(spec)
        launch_of(scenario, values, **options)


def check_panes(specs: Sequence[str]) -> None:
    """Raise UsageError, CatalogueError or PlanError for what can't be shown side by side: files, scenarios, or one."""
    from ....tracer.model.plan import parse_file_spec
    from ...model.first_bookmark import names_file

    if len(specs) > 2:
        raise UsageError(f"two are compared, not {len(specs)}.")
    for spec in specs:
        if names_file(spec):
            path = parse_file_spec(spec)[0]
            if not is_file(path):
                raise UsageError(no_file(path))
        else:
            check_scenarios([spec])


def _is_file(specs: Sequence[str]) -> bool:
    """Return whether a trace file is named; raises UsageError where it is missing or not alone."""
    from ....tracer.model.plan import parse_file_spec
    from ...model.first_bookmark import names_file

    files = [parse_file_spec(spec)[0] for spec in specs if names_file(spec)]
    if files and len(specs) > 1:
        raise UsageError(f"the trace file {files[0]} is opened alone; leave the other words out.")
    if files and not is_file(files[0]):
        raise UsageError(no_file(files[0]))
    return bool(files)


def add_look(parser: Parser) -> None:
    """Add what pictures of the window look like: `theme`, `size` in points, `scale` and `text_size`."""
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
        help="0.8 to 2 times the normal",
    )
