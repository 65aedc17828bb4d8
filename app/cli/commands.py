"""The table of commands, the source of their parsers, `tilescope --help`, the completion and README's list.

A command's file is imported only when the command is used, so that no other command waits for it.
"""

from __future__ import annotations

from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .common.arguments import Parser


def _parse(parser: Parser, words: Sequence[str]) -> Namespace:
    return parser.parse_args(words)


class Implementation(NamedTuple):
    """The functions that the file of a command provides."""

    add_arguments: Callable[[Parser], None]  # also the description that --help shows
    execute: Callable[[Namespace], int]  # returns the exit status
    parse: Callable[[Parser, Sequence[str]], Namespace] = _parse  # of the words after the command's name


class Subcommand(NamedTuple):
    name: str  # a word, or two as in `export timings`; "" opens the window
    help: str  # its purpose, on one line
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
    from .programs import command_line, run_check

    return Implementation(run_check.add_run_arguments, run_check.execute_run, command_line.parse_run)


def _check() -> Implementation:
    from .programs import command_line, run_check

    return Implementation(run_check.add_check_arguments, run_check.execute_check, command_line.parse_check)


def _explain() -> Implementation:
    from . import explain

    return Implementation(explain.add_arguments, explain.execute)


def _why() -> Implementation:
    from . import why

    return Implementation(why.add_arguments, why.execute)


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


def _test() -> Implementation:
    from . import run_tests

    return Implementation(run_tests.add_arguments, run_tests.execute, run_tests.parse)


def _orders() -> Implementation:
    from . import orders

    return Implementation(orders.add_arguments, orders.execute)


def _server() -> Implementation:
    from . import server

    return Implementation(server.add_arguments, server.execute)


def _mutate() -> Implementation:
    from . import mutate

    return Implementation(mutate.add_arguments, mutate.execute, mutate.parse)


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
    Subcommand("list", "list the scenarios and lectures", _list),
    Subcommand("counters", "print their memory counters as a table", _counters),
    Subcommand("snapshot", "draw the window as a picture, without a screen", _snapshot),
    Subcommand("render", "render a film of them, or of a lecture: .mp4, .gif, ...", _render),
    Subcommand("open", "open the launches of your program in the window", _open),
    Subcommand("lecture", "present a lecture, step by step, in the window", _lecture),
    Subcommand("exercise", "write a kernel that is judged while you type, in the window", _exercise),
    Subcommand("run", "run your program and trace every launch", _run),
    Subcommand("check", "check the kernels of programs for errors; for a course's CI", _check),
    Subcommand("test", "run the tests of a project with pytest, and check every launch", _test),
    Subcommand("orders", "find an order of the threads that changes a result", _orders),
    Subcommand("mutate", "find the faults that the tests of kernels miss", _mutate),
    Subcommand("server", "show findings and counters in an editor, as a language server", _server),
    Subcommand("explain", "explain a finding or a counter, and how to fix it", _explain),
    Subcommand("why", "explain a value: the accesses that led to it, and the first fault", _why),
    Subcommand("frames", "draw key moments as pictures, and print the counters", _frames),
    Subcommand("measure", "measure their times on a GPU, and programs on the CPU", _measure),
    Subcommand("devices", "list the GPUs of this computer, and whether they can be used", _devices),
    Subcommand("export timings", "draw measured times as a chart, or write its numbers", _export_timings),
    Subcommand("export", "write the accesses of a launch, for pandas, a spreadsheet or Perfetto", _export),
    Subcommand("completion", "print a script that completes commands in a shell", _completion),
)
WINDOW = Subcommand("", "", _window)
RENAMED = {"record": "render"}  # deprecated names of commands, which work until the next release

USAGE = "tilescope [-h] [--version] [FILE | SCENARIO ...]\n       tilescope COMMAND [ARGUMENT ...]"
DESCRIPTION = """See what a CUDA kernel does to memory. Without an argument the window opens as it was closed,
at first with a naive and a tiled matrix multiplication."""
EPILOG = """SCENARIO is a name with optional parameters and options: matmul-tiled:m=100,tile=32,dtype=float64,a=my.npy
or matmul-tiled:schedule=random,seed=3,resident=4,blocks=0+5. See also tilescope COMMAND --help."""


def with_new_name(arguments: list[str]) -> list[str]:
    """Replace the deprecated name of a command by its new one."""
    return [RENAMED.get(arguments[0], arguments[0]), *arguments[1:]] if arguments else []


def subcommand_of(arguments: list[str]) -> tuple[Subcommand, list[str]]:
    """Split a command line into its command and the remaining words; without a command return WINDOW and all words."""
    for command in SUBCOMMANDS:  # `export timings` comes before `export`
        name = command.name.split()
        if arguments[: len(name)] == name:
            return command, arguments[len(name) :]
    return WINDOW, arguments


def parser_of(command: Subcommand) -> Parser:
    """Build the parser of a command, with its arguments; this imports the command's file.

    It parses the words after the command's name. The parser of the complete line is not used for parsing: it would not
    accept a scenario instead of a command, and it would look for its own options among the words of a program.
    """
    parser = _WindowParser(prog="tilescope") if command is WINDOW else _command_line()[1][command.name]
    command.load().add_arguments(parser)
    return parser


class _WindowParser(Parser):
    """The parser of a line without a command: its help is that of the complete line."""

    def format_help(self) -> str:
        return _command_line()[0].format_help()


def _command_line() -> tuple[Parser, dict[str, Parser]]:
    """Build the parser of the complete line and those of the commands, by name, without their arguments."""
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
