"""The table of the commands, from which their parsers, `tilescope --help`, the completion and README's list come.

The file of a command is imported once the command is named, so that no other waits for what only some need.
"""

from __future__ import annotations

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .common.arguments import Parser


def _parse(parser: Parser, words: Sequence[str]) -> Namespace:
    return parser.parse_args(words)


class Implementation(NamedTuple):
    """What the file of a command gives."""

    add_arguments: Callable[[Parser], None]  # and the description that --help shows
    execute: Callable[[Namespace], int]  # returns the exit status
    parse: Callable[[Parser, Sequence[str]], Namespace] = _parse  # of the words after the command's name


class Subcommand(NamedTuple):
    name: str  # a word, or two as in `export timings`; "" where the window is opened
    help: str  # what it is for, on one line
    load: Callable[[], Implementation]  # imports its file


def _list() -> Implementation:
    from . import list_scenarios

    return Implementation(list_scenarios.add_arguments, list_scenarios.execute)


def _counters() -> Implementation:
    from . import counters

    return Implementation(counters.add_arguments, counters.execute)


def _snapshot() -> Implementation:
    from .pictures import snapshot

    return Implementation(snapshot.add_arguments, snapshot.execute)


def _render() -> Implementation:
    from .pictures import render

    return Implementation(render.add_arguments, render.execute)


def _open() -> Implementation:
    from . import open_window

    return Implementation(open_window.add_arguments, open_window.execute)


def _run() -> Implementation:
    from .programs import run_check

    return Implementation(run_check.add_run_arguments, run_check.execute_run, run_check.parse)


def _check() -> Implementation:
    from .programs import run_check

    return Implementation(run_check.add_check_arguments, run_check.execute_check, run_check.parse)


def _explain() -> Implementation:
    from . import explain

    return Implementation(explain.add_arguments, explain.execute)


def _frames() -> Implementation:
    from . import frames

    return Implementation(frames.add_arguments, frames.execute)


def _measure() -> Implementation:
    from . import measure

    return Implementation(measure.add_arguments, measure.execute)


def _devices() -> Implementation:
    from . import devices

    return Implementation(devices.add_arguments, devices.execute)


def _lecture() -> Implementation:
    from . import lecture

    return Implementation(lecture.add_arguments, lecture.execute)


def _exercise() -> Implementation:
    from . import exercise

    return Implementation(exercise.add_arguments, exercise.execute)


def _export_timings() -> Implementation:
    from . import export_timings

    return Implementation(export_timings.add_arguments, export_timings.execute)


def _export() -> Implementation:
    from . import export_trace

    return Implementation(export_trace.add_arguments, export_trace.execute)


def _completion() -> Implementation:
    from . import completion

    def execute(chosen: Namespace) -> int:
        commands = [completion.CompletedCommand(c.name, c.help, parser_of(c)) for c in (WINDOW, *SUBCOMMANDS)]
        print(completion.script(chosen.shell, commands))
        return 0

    return Implementation(completion.add_arguments, execute)


def _window() -> Implementation:
    from . import open_window

    return Implementation(open_window.add_window_arguments, open_window.show_window)


SUBCOMMANDS = (
    Subcommand("list", "the scenarios, one a line", _list),
    Subcommand("counters", "what they ask of memory, as a table", _counters),
    Subcommand("snapshot", "the window as a picture, without a screen", _snapshot),
    Subcommand("render", "a film of them, or of a lecture: .mp4, .gif, ...", _render),
    Subcommand("open", "the launches of a program of yours, in the window", _open),
    Subcommand("lecture", "a lecture, step by step, in the window", _lecture),
    Subcommand("exercise", "a kernel to write, judged while one types, in the window", _exercise),
    Subcommand("run", "a program of yours, every launch recorded", _run),
    Subcommand("check", "what its kernels do wrong; for a course's CI", _check),
    Subcommand("explain", "what a finding or a counter means, and how to fix it", _explain),
    Subcommand("frames", "telling moments as pictures, and the counters", _frames),
    Subcommand("measure", "their times on a GPU, beside programs on the CPU", _measure),
    Subcommand("devices", "the GPUs of this computer, and whether they can be used", _devices),
    Subcommand("export timings", "measured times as a chart, or its numbers", _export_timings),
    Subcommand("export", "the accesses of a launch, for pandas, a spreadsheet or Perfetto", _export),
    Subcommand("completion", "a script with which a shell completes all this", _completion),
)
WINDOW = Subcommand("", "", _window)
RENAMED = {"record": "render"}  # old names of commands, which work until the next release

USAGE = "tilescope [-h] [--version] [FILE | SCENARIO ...]\n       tilescope COMMAND [ARGUMENT ...]"
DESCRIPTION = """See what a CUDA kernel does to memory. Without an argument the window shows what it showed last,
at first a naive beside a tiled matrix multiplication."""
EPILOG = """SCENARIO is a name with parameters, options or neither: matmul-tiled:m=100,tile=32,dtype=float64,a=my.npy
or matmul-tiled:schedule=random,seed=3,resident=4,blocks=0+5. tilescope COMMAND --help says more."""


def with_new_name(arguments: list[str]) -> list[str]:
    """Replace the old name of a command by its new one."""
    return [RENAMED.get(arguments[0], arguments[0]), *arguments[1:]] if arguments else []


def subcommand_of(arguments: list[str]) -> tuple[Subcommand, list[str]]:
    """Return the command that a command line begins with and the words after it; with none, WINDOW and all words."""
    for command in SUBCOMMANDS:  # of which `export timings` stands before `export`
        name = command.name.split()
        if arguments[: len(name)] == name:
            return command, arguments[len(name) :]
    return WINDOW, arguments


def parser_of(command: Subcommand) -> Parser:
    """Return the parser of a command, with its arguments, which imports its file.

    It is given the words after the command's name. The parser of the whole line is given none: where a command
    could stand it would take no scenario, and it would look for options of its own among the words of a program.
    """
    parser = _WindowParser(prog="tilescope") if command is WINDOW else _command_line()[1][command.name]
    command.load().add_arguments(parser)
    return parser


class _WindowParser(Parser):
    """The parser of a line without a command: its help is that of the whole line."""

    def format_help(self) -> str:
        return _command_line()[0].format_help()


def _command_line() -> tuple[Parser, dict[str, Parser]]:
    """Return the parser of the whole line and those of the commands, by name, without their arguments."""
    line = Parser(
        prog="tilescope",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _window().add_arguments(line)
    parsers = line.add_subparsers(prog="tilescope", title="commands", metavar="COMMAND [ARGUMENT ...]")
    return line, {
        command.name: parsers.add_parser(command.name, help=command.help) for command in SUBCOMMANDS
    }
