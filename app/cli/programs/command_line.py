"""The command line of `run` and `check`: our options, then programs, then words that belong to the program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ....tracer.model.notebook_cells import is_notebook
from ..common.arguments import Parser, UsageError
from ..common.text_output import print_error
from .check_settings import OPTIONS_WITH_VALUE as REPORT_OPTIONS
from .check_settings import configuration_here
from .program_to_run import ProgramToRun

OPTIONS_WITH_VALUE = (
    "--engine", "--schedule", "--seed", "--resident", "--blocks", "--out", "--json", "--text", "--patience", "--where",
    *REPORT_OPTIONS,
)  # fmt: skip
SEPARATOR = "--"  # before the words of the program
NEAR = 0.8  # similarity from which a word counts as a mistyped option


def parse_run(parser: Parser, words: Sequence[str]) -> Namespace:
    """Parse the options, and add the program as `program`: all words after the script belong to it."""
    options, program = split_command_line(words)
    chosen = parser.parse_args(options)
    chosen.program = _with_own_words(program, parser, names_programs=True)
    return chosen


def parse_check(parser: Parser, words: Sequence[str]) -> Namespace:
    """Parse the options, and add `programs`: all that the words name, none for those in pyproject.toml.

    Raises UsageError if there are none there either, or if it is not clear whose arguments the words are.
    """
    try:
        options, first = split_command_line(words)
    except UsageError as error:
        if not configuration_here().programs:
            raise UsageError(f"{str(error)[:-1]}, or list `programs` in pyproject.toml.") from None
        options, chosen_programs = list(words), []
    else:
        chosen_programs = _programs(first, parser)
    chosen = parser.parse_args(options)
    chosen.programs = chosen_programs
    chosen.program = chosen_programs[0] if len(chosen_programs) == 1 else ProgramToRun("", [], False)
    return chosen


def split_command_line(words: Sequence[str]) -> tuple[list[str], ProgramToRun]:
    """Split the words into (our options, the first program with all words after it).

    Raises UsageError if no program is named.
    """
    index = 0
    while index < len(words):
        word = words[index]
        if word == "-m" and index + 1 < len(words):
            return list(words[:index]), ProgramToRun(words[index + 1], list(words[index + 2 :]), True)
        if word == SEPARATOR and index + 1 < len(words) and not Path(words[index + 1]).is_file():
            return list(words[:index]), ProgramToRun(
                words[index + 1], list(words[index + 2 :]), False, is_command=True
            )
        if not word.startswith("-"):
            return list(words[:index]), ProgramToRun(word, list(words[index + 1 :]), False)
        index += 2 if word in OPTIONS_WITH_VALUE else 1
    if "-h" in words or "--help" in words:
        return ["--help"], ProgramToRun("", [], False)
    raise UsageError("no program is named; name a script or a notebook, or use -m and a module.")


def _programs(first: ProgramToRun, parser: Parser) -> list[ProgramToRun]:
    """Return the first program and those that the words after it name, each with the arguments of all."""
    number = 0
    if not (first.is_module or first.is_command):
        while number < len(first.arguments) and _names_program(first.arguments[number]):
            number += 1
    names, rest = [first.name, *first.arguments[:number]], first.arguments[number:]
    if number and rest and rest[0] != SEPARATOR:
        raise UsageError(
            f"{rest[0]} stands after {number + 1} programs; write options before the programs, "
            f"and {SEPARATOR} before arguments of the programs."
        )
    return [_with_own_words(first._replace(name=name, arguments=rest), parser) for name in names]


def _names_program(word: str) -> bool:
    from ....tracer.model.launch import is_cuda_cpp  # imports packages that help does not need

    return word.endswith(".py") or is_notebook(word) or is_cuda_cpp(word)


def _with_own_words(program: ProgramToRun, parser: Parser, *, names_programs: bool = False) -> ProgramToRun:
    """Return the program with the words after the separator as its arguments.

    Without a separator all words are. Then a message names the first that looks like an option of ours, or, with
    `names_programs`, like another program.
    """
    from difflib import get_close_matches  # imported here for a fast start

    words = program.arguments
    if program.is_command:
        return program
    if words[:1] == [SEPARATOR]:
        return program._replace(arguments=words[1:])
    options = [option for option in parser._option_string_actions if option.startswith("--")]
    for word in words:
        if names_programs and word == words[0] and _names_program(word) and Path(word).is_file():
            advice = "`tilescope check` takes several programs"
        elif word.startswith("--") and get_close_matches(word.partition("=")[0], options, 1, NEAR):
            advice = f"options of tilescope stand before {program.name}"
        else:
            continue
        print_error(
            f"{program.name} gets {word} as an argument: {advice}. Write {SEPARATOR} before its arguments."
        )
        break
    return program
